#include "models/weights/hub_weights.hpp"

#include "models/weights/stored_values.hpp"
#include "runtime/base/fault.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

namespace hydra {
namespace {

constexpr std::size_t named_at_most = 5;  // in an error message

/// Prefixes of canonical names.
constexpr std::array<std::string_view, 5> head_prefixes{"cls.", "lm_head.", "classifier.", "score.", "pooler."};
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

[[noreturn]] void refuse_weights(const std::filesystem::path& file, std::string_view why) {
  throw fault_error{fault_code::bad_input, fmt::format("{}: {}", file.string(), why)};
}

[[noreturn]] void refuse_weights(const hub_tensor& t, std::string_view why) {
  refuse_weights(t.file, fmt::format("tensor {}: {}", t.name, why));
}

/// "a, b, c, d, e and 3 more".
std::string listed(const std::vector<std::string>& names) {
  const auto shown = std::span{names}.first(std::min(names.size(), named_at_most));
  const std::string text = fmt::format("{}", fmt::join(shown, ", "));
  return names.size() == shown.size() ? text : fmt::format("{} and {} more", text, names.size() - shown.size());
}

/// Determines which tensor each parameter of a chain is.
class matching {
 public:
  matching(const hub_tensors& tensors, const chain& model, hub_head head)
      : tensors_{tensors}, model_{model}, fresh_head_{head == hub_head::fresh} {}

  std::map<std::string, const hub_tensor*, std::less<>> run() {
    for (std::size_t i = 0; i < model_.size(); ++i)
      for (const parameter_spec& p : model_.parameters(i)) match(p);
    check_missing();
    check_left_over();
    return std::move(places_);
  }

 private:
  void match(const parameter_spec& p) {
    const std::string name = model_.stored_name(p.name);
    const std::string& owner = p.tied_to.empty() ? p.name : p.tied_to;
    expected_.emplace(owner, model_.stored_name(owner));
    const hub_tensor* const tensor = tensors_.find(name);
    if (!tensor) return;
    taken_.insert(canonical_name(name));
    if (takes(p, *tensor) && (p.tied_to.empty() || !places_.contains(owner))) places_[owner] = tensor;
  }

  /// False for a head of other classes that a fresh one replaces.
  bool takes(const parameter_spec& p, const hub_tensor& t) const {
    if (t.tensor.shape != p.shape) {
      if (may_be_fresh(t.name)) return false;
      refuse_weights(t, fmt::format("is [{}]; the model that config.json describes has [{}]", fmt::join(t.tensor.shape, ", "),
                            fmt::join(p.shape, ", ")));
    }
    if (!widens_to_f32(t.tensor.type))
      refuse_weights(t, fmt::format("is of type {}; parameters are read from F32, BF16 and F16", to_string(t.tensor.type)));
    return true;
  }

  bool may_be_fresh(const std::string& name) const {
    return fresh_head_ && begins_with_one_of(canonical_name(name), head_prefixes);
  }

  void check_missing() const {
    std::vector<std::string> missing;
    bool heads = true;
    for (const auto& [owner, name] : expected_) {
      if (places_.contains(owner) || may_be_fresh(name)) continue;
      missing.push_back(name);
      heads = heads && begins_with_one_of(canonical_name(name), head_prefixes);
    }
    if (missing.empty()) return;
    refuse_weights(tensors_.folder(),
           fmt::format("the checkpoint lacks {} of {} tensors: {}{}", missing.size(), expected_.size(), listed(missing),
                       heads ? "; to start with a new head, set head = \"...\"" : ""));
  }

  void check_left_over() const {
    std::vector<std::string> left_over;
    std::filesystem::path file;
    for (const auto& [name, t] : tensors_.all()) {
      if (taken_.contains(name) || may_be_passed_over(name)) continue;
      left_over.push_back(t.name);
      if (file.empty()) file = t.file;
    }
    if (!left_over.empty())
      refuse_weights(file, fmt::format("has tensors that are no parameters of the model that config.json describes: {}",
                               listed(left_over)));
  }

  bool may_be_passed_over(const std::string& name) const {
    return ends_with_one_of(name, buffers) || begins_with_one_of(name, pretraining_heads) || may_be_fresh(name);
  }

  const hub_tensors& tensors_;
  const chain& model_;
  bool fresh_head_;
  std::map<std::string, std::string> expected_;  ///< stored names by the owner's
  std::set<std::string> taken_;                  ///< canonical names
  std::map<std::string, const hub_tensor*, std::less<>> places_;
};

}  // namespace

hub_weights::hub_weights(std::shared_ptr<const hub_tensors> tensors, const chain& model, hub_head head)
    : tensors_(std::move(tensors)), places_(matching{*tensors_, model, head}.run()), identity_(tensors_->identity()) {}

std::string hub_weights::origin(const std::string& parameter) const {
  if (!places_.contains(parameter)) return {};
  return fmt::format("{} {}", tensors_->absolute_folder(), identity_);
}

bool hub_weights::read(const parameter_spec& p, std::span<float> values) const {
  const auto place = places_.find(p.name);
  if (place == places_.end()) return false;
  tensors_->verify();
  const hub_tensor& t = *place->second;
  if (const std::size_t wrong = widen_mapped(t.tensor, values))
    refuse_weights(t, fmt::format(
                  "{} of {} values are not finite: the file is damaged, or holds what a diverged training has left",
                  wrong, values.size()));
  return true;
}

}  // namespace hydra
