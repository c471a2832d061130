#include "models/weights/hub_weights.hpp"

#include "models/vocabulary_rows.hpp"
#include "models/weights/listed_names.hpp"
#include "models/weights/new_token_rows.hpp"
#include "models/weights/stored_values.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

namespace hydra {
namespace {

/// Prefixes of canonical names.
constexpr std::array<std::string_view, 5> head_prefixes{"cls.", "lm_head.", "classifier.", "score.", "pooler."};
/// Of heads whose rows are classes: those of a new one are others, also where they are as many.
constexpr std::array<std::string_view, 2> classifiers{"classifier.", "score."};
/// Heads of pre-training in addition to the task's own head, kept in older checkpoints.
constexpr std::array<std::string_view, 2> pretraining_heads{"pooler.", "cls.seq_relationship."};
/// Suffixes of canonical names: constants that follow from the configuration, and counters that nothing reads.
constexpr std::array<std::string_view, 7> buffers{
    "attn.bias", "attn.masked_bias", "rotary_emb.inv_freq", "position_ids", "token_type_ids", "num_batches_tracked",
    "predictions.decoder.bias"};

template <class Texts>
bool begins_with_one_of(std::string_view name, const Texts& all) {
  return std::ranges::any_of(all, [&](std::string_view each) { return name.starts_with(each); });
}

template <class Texts>
bool ends_with_one_of(std::string_view name, const Texts& all) {
  return std::ranges::any_of(all, [&](std::string_view each) { return name.ends_with(each); });
}

/// Where only tensors of a head are missing. A language model has no other head than its own.
std::string advice_on(std::string_view missing) {
  return missing.starts_with("lm_head.")
             ? "; a head that is the embedding needs \"tie_word_embeddings\": true in config.json"
             : "; to start with a new head, set head = \"...\"";
}

std::size_t elements_of(const hub_tensor& t) {
  return std::accumulate(t.tensor.shape.begin(), t.tensor.shape.end(), std::size_t{1},
                         [](std::size_t all, std::int64_t n) { return all * static_cast<std::size_t>(n); });
}

/// transformers quantises the maps of GPT-2, [in, out], as the [out, in] of a Linear.
bool is_transposed(const parameter_spec& p, const hub_tensor& t) {
  return t.four_bits && p.linear == linear_weight::in_out;
}

std::vector<std::int64_t> stored_shape(const parameter_spec& p, const hub_tensor& t) {
  if (is_transposed(p, t)) return {p.shape.rbegin(), p.shape.rend()};
  return p.shape;
}

/// How many values are not finite.
std::size_t read_transposed(const hub_tensor& t, std::span<float> values) {
  const auto rows = static_cast<std::size_t>(t.tensor.shape[0]), columns = static_cast<std::size_t>(t.tensor.shape[1]);
  return widen_parts(*t.four_bits, values.size(), [&](std::size_t begin, std::span<const float> part) {
    for (std::size_t i = 0; i < part.size(); ++i)
      values[(begin + i) % columns * rows + (begin + i) / columns] = part[i];
  });
}

/// How many are not finite.
std::size_t read_in_order(const hub_tensor& t, std::span<float> values) {
  return t.four_bits ? widen_mapped(*t.four_bits, values) : widen_mapped(t.tensor, values);
}

void require_finite(const hub_tensor& t, std::size_t wrong, std::size_t all) {
  if (wrong == 0) return;
  refuse_tensor(
      t, fmt::format("{} of {} values are not finite: the file is damaged, or holds what a diverged training has left",
                     wrong, all));
}

/// Determines which tensor each parameter of a chain is.
class matching {
 public:
  matching(const hub_tensors& tensors, const chain& model, hub_head head, std::int64_t stored_tokens)
      : tensors_{tensors}, model_{model}, fresh_head_{head == hub_head::fresh}, stored_tokens_{stored_tokens} {}

  matched_tensors run() {
    match_all(&matching::match_owner);
    match_all(&matching::match_copy);
    if (taken_.contains(prediction_bias)) compare(decoder_bias, *tensors_.find(prediction_bias));
    find_left_over();
    check_missing();
    if (!left_over_.empty())
      refuse(left_over_file_,
             fmt::format("has tensors that are not parameters of the model that config.json describes: {}",
                         listed_names(left_over_)));
    return std::move(found_);
  }

 private:
  void match_all(void (matching::*match)(const parameter_spec&)) {
    for (const parameter_spec& p : model_.parameters()) (this->*match)(p);
  }

  void match_owner(const parameter_spec& p) {
    if (!p.tied_to.empty()) return;
    const std::string name = model_.stored_name(p.name);
    expected_.emplace(p.name, name);
    if (const hub_tensor* const tensor = take(p, name)) found_.places.emplace(p.name, tensor);
  }

  /// It is its owner if that is not stored.
  void match_copy(const parameter_spec& p) {
    if (p.tied_to.empty()) return;
    const std::string name = model_.stored_name(p.name);
    const hub_tensor* const tensor = take(p, name);
    if (!tensor) return;
    const auto [place, is_owner] = found_.places.emplace(p.tied_to, tensor);
    if (!is_owner) compare(name, *place->second);
  }

  /// A copy with its owner. A fresh head is tied again.
  void compare(const std::string& name, const hub_tensor& owner) {
    const hub_tensor* const copy = tensors_.find(name);
    if (!copy || equal_mapped(copy->tensor, owner.tensor)) return;
    if (may_be_fresh(name)) return found_.unused.push_back(copy->name);
    found_.untied.push_back(fmt::format("{} and {}", copy->name, owner.name));
  }

  /// Null if there is none that can be used.
  const hub_tensor* take(const parameter_spec& p, const std::string& name) {
    const hub_tensor* const tensor = tensors_.find(name);
    if (!tensor) return nullptr;
    taken_.insert(canonical_name(name));
    if (!is_renewed(name) && fits(p, *tensor, name)) return tensor;
    found_.unused.push_back(tensor->name);
    return nullptr;
  }

  /// False for a head of another shape that a fresh one replaces.
  bool fits(const parameter_spec& p, const hub_tensor& t, const std::string& name) const {
    const std::vector<std::int64_t> shape = stored_shape(p, t);
    if (t.tensor.shape != shape && !lacks_rows(t, p)) {
      if (may_be_fresh(name)) return false;
      refuse_tensor(t, fmt::format("is [{}]; the model that config.json describes has [{}]",
                                   fmt::join(t.tensor.shape, ", "), fmt::join(shape, ", ")));
    }
    if (!t.four_bits && !widens_to_f32(t.tensor.type))
      refuse_tensor(t,
                    fmt::format("is of type {}; parameters are read from F32, BF16 and F16", to_string(t.tensor.type)));
    return true;
  }

  /// Of new tokens.
  bool lacks_rows(const hub_tensor& t, const parameter_spec& p) const {
    if (stored_tokens_ == 0 || !has_row_per_token(p.name) || p.shape.front() < stored_tokens_) return false;
    std::vector<std::int64_t> shape = p.shape;
    shape.front() = stored_tokens_;
    return t.tensor.shape == shape;
  }

  bool is_renewed(const std::string& name) const {
    return fresh_head_ && begins_with_one_of(canonical_name(name), classifiers);
  }

  bool may_be_fresh(const std::string& name) const {
    return fresh_head_ && begins_with_one_of(canonical_name(name), head_prefixes);
  }

  void check_missing() const {
    std::vector<std::string> missing;
    bool heads = true;
    for (const auto& [owner, name] : expected_) {
      if (found_.places.contains(owner) || may_be_fresh(name)) continue;
      missing.push_back(name);
      heads = heads && begins_with_one_of(canonical_name(name), head_prefixes);
    }
    if (missing.empty()) return;
    refuse(tensors_.folder(),
           fmt::format("the checkpoint lacks {} of {} tensors: {}{}{}", missing.size(), expected_.size(),
                       listed_names(missing),
                       left_over_.empty() ? "" : "; in their place it has " + listed_names(left_over_),
                       heads ? advice_on(missing.front()) : ""));
  }

  /// Those of other heads are only not used.
  void find_left_over() {
    for (const auto& [name, t] : tensors_.all()) {
      if (taken_.contains(name) || ends_with_one_of(name, buffers)) continue;
      const bool of_head = begins_with_one_of(name, pretraining_heads) || may_be_fresh(name);
      (of_head ? found_.unused : left_over_).push_back(t.name);
      if (!of_head && left_over_file_.empty()) left_over_file_ = t.file;
    }
  }

  const hub_tensors& tensors_;
  const chain& model_;
  bool fresh_head_;
  std::int64_t stored_tokens_;
  std::map<std::string, std::string> expected_;  ///< stored names by the owner's
  std::set<std::string> taken_;                  ///< canonical names
  std::vector<std::string> left_over_;           ///< stored names
  std::filesystem::path left_over_file_;         ///< of the first of them
  matched_tensors found_;
};

}  // namespace

hub_weights::hub_weights(std::shared_ptr<const hub_tensors> tensors, const chain& model, hub_head head,
                         std::int64_t stored_tokens)
    : tensors_(std::move(tensors)),
      matched_(matching{*tensors_, model, head, stored_tokens}.run()),
      identity_(tensors_->identity()) {
  for (const parameter_spec& p : model.parameters()) {
    const auto place = matched_.places.find(p.name);
    if (place == matched_.places.end()) continue;
    if (is_transposed(p, *place->second)) transposed_.insert(p.name);
    if (place->second->tensor.shape != stored_shape(p, *place->second)) grown_.insert(p.name);
  }
}

std::string hub_weights::origin(const std::string& parameter) const {
  if (!matched_.places.contains(parameter)) return {};
  return fmt::format("{} {}", tensors_->absolute_folder(), identity_);
}

bool hub_weights::read(const parameter_spec& p, std::span<float> values) const {
  const auto place = matched_.places.find(p.name);
  if (place == matched_.places.end()) return false;
  tensors_->verify();
  const hub_tensor& t = *place->second;
  const auto stored = values.first(elements_of(t));
  const bool transposed = transposed_.contains(p.name);
  require_finite(t, transposed ? read_transposed(t, stored) : read_in_order(t, stored), stored.size());
  if (stored.size() == values.size()) return true;
  row_sums sums{t.tensor.shape};
  sums.add(stored);
  const std::vector<float> row = sums.new_row();
  for (std::size_t i = stored.size(); i < values.size(); ++i) values[i] = row[(i - stored.size()) % row.size()];
  return true;
}

bool hub_weights::read_rows(const parameter_spec& p, parameter_slice::range rows, std::span<float> values) const {
  const auto place = matched_.places.find(p.name);
  if (place == matched_.places.end() || place->second->four_bits) return false;
  if (transposed_.contains(p.name) || grown_.contains(p.name)) return false;
  tensors_->verify();
  const stored_tensor& all = place->second->tensor;
  const std::size_t bytes = all.data.size() / static_cast<std::size_t>(all.shape.front());
  const auto first = static_cast<std::size_t>(rows.first) * bytes, n = static_cast<std::size_t>(rows.size()) * bytes;
  const stored_tensor part{all.type, {static_cast<std::int64_t>(values.size())}, all.data.subspan(first, n)};
  require_finite(*place->second, widen_mapped(part, values), values.size());
  return true;
}

bool hub_weights::has_values(const parameter_spec& p, const stored_tensor& values) const {
  const auto place = matched_.places.find(p.name);
  if (place == matched_.places.end() || place->second->four_bits) return false;
  const stored_tensor& own = place->second->tensor;
  if (!grown_.contains(p.name)) return equal_mapped(own, values);
  return values.shape == p.shape && widens_to_f32(values.type) && grows_from(values, own);
}

}  // namespace hydra
