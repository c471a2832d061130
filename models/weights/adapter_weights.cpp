#include "models/weights/adapter_weights.hpp"

#include "models/lora.hpp"
#include "models/vocabulary_rows.hpp"
#include "models/weights/listed_names.hpp"
#include "models/weights/stored_values.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace hydra {
namespace {

const std::string& owner_of(const parameter_spec& p) { return p.tied_to.empty() ? p.name : p.tied_to; }

bool has_values_of(const weight_source& base, parameter_spec p, const stored_tensor& t) {
  p.name = owner_of(p);
  return base.has_values(p, t);
}

/// The module of "MODULE.lora_A.weight"; empty for what is none of an adapter's maps.
std::string adapted_module(const std::string& name) {
  for (const std::string_view end : {".lora_A.weight", ".lora_B.weight"})
    if (name.ends_with(end)) return name.substr(0, name.size() - end.size());
  return {};
}

/// What else than the adapter's file decides its shape; empty for other parameters.
std::string origin_of_rank(const chain& adapted, const std::string& name) {
  const std::string module = adapted_module(name);
  if (module.empty()) return {};
  const lora_options& o = *adapter_of(adapted);
  return fmt::format(" ({} of adapter_config.json gives its module rank {})",
                     o.rank_of.contains(module) ? "rank_pattern" : "r, as no entry of rank_pattern matches it,",
                     o.rank_in(module));
}

void check_shape_of(const hub_tensor& t, const parameter_spec& p, const chain& adapted) {
  if (has_more_rows(t, p))
    refuse_more_tokens(t, p.shape, t.tensor.shape.front() - p.shape.front());
  if (t.tensor.shape != p.shape || !widens_to_f32(t.tensor.type))
    refuse_tensor(t,
                  fmt::format("is {} [{}]; the model has F32, BF16 or F16 [{}]{}: the adapter belongs to another one",
                              to_string(t.tensor.type), fmt::join(t.tensor.shape, ", "), fmt::join(p.shape, ", "),
                              origin_of_rank(adapted, adapted.stored_name(p.name))));
}

}  // namespace

bool has_more_rows(const hub_tensor& t, const parameter_spec& p) {
  const auto& [stored, own] = std::tie(t.tensor.shape, p.shape);
  return has_row_per_token(p.name) && stored.size() == own.size() && stored.front() > own.front() &&
         std::equal(stored.begin() + 1, stored.end(), own.begin() + 1);
}

adapter_weights::adapter_weights(std::shared_ptr<const hub_tensors> tensors, const chain& adapted,
                                 embedding_changes changes)
    : tensors_(std::move(tensors)),
      base_(adapted.weights()),
      identity_(tensors_->identity()),
      changes_(std::move(changes)) {
  std::set<std::string> used;
  for (const auto& [parameter, change] : changes_)
    for (const hub_tensor* const t : tensors_of(change)) used.insert(canonical_name(t->name));
  for (const parameter_spec& p : adapted.parameters())
    if (!p.frozen || tensors_->find(adapted.stored_name(p.name))) used.insert(match(adapted, p));
  for (const auto& [name, t] : tensors_->all())
    if (!used.contains(name) && !is_copy(t))
      refuse(t.file, fmt::format("tensor {} belongs to no module that the adapter adapts or trains", shown(t.name)));
  note_frozen(adapted);
}

/// Of BERT's bias of the head over tokens PEFT stores both names.
bool adapter_weights::is_copy(const hub_tensor& t) const {
  const hub_tensor* const bias = tensors_->find(prediction_bias);
  return bias && canonical_name(t.name) == decoder_bias && equal_mapped(bias->tensor, t.tensor);
}

/// Its canonical name. What only repeats the base's values stays the base's.
std::string adapter_weights::match(const chain& adapted, const parameter_spec& p) {
  const std::string name = adapted.stored_name(p.name);
  const hub_tensor* const t = tensors_->find(name);
  if (!t)
    refuse(fmt::format("{}: the adapter lacks tensor {}: it belongs to another model{}", tensors_->folder().string(),
                       name, example()));
  check_shape_of(*t, p, adapted);
  if (p.frozen && has_values_of(*base_, p, t->tensor)) return canonical_name(name);
  const auto [place, is_new] = places_.emplace(owner_of(p), t);
  if (!is_new && !equal_mapped(place->second->tensor, t->tensor))
    refuse(t->file, fmt::format("tensors {} and {} differ, but are the same parameter of the model (tied)",
                                shown(place->second->name), shown(t->name)));
  return canonical_name(name);
}

/// What PEFT may have trained, and is not trained further.
void adapter_weights::note_frozen(const chain& adapted) {
  std::vector<std::string> names;
  const auto add = [&](const hub_tensor* t) {
    if (std::ranges::find(names, t->name) == names.end()) names.push_back(t->name);
  };
  for (const parameter_spec& p : adapted.parameters()) {
    if (!p.frozen) continue;
    if (const auto place = places_.find(owner_of(p)); place != places_.end()) add(place->second);
    if (const auto change = changes_.find(owner_of(p)); change != changes_.end())
      std::ranges::for_each(tensors_of(change->second), add);
  }
  if (!names.empty())
    notes_.push_back(fmt::format("{}: what the adapter has in the place of the base's values is not trained, as "
                                 "modules_to_save does not name it: {}",
                                 tensors_->folder().string(), listed_names(names)));
}

std::string adapter_weights::example() const {
  return tensors_->all().empty() ? "" : ", with tensors such as " + shown(tensors_->all().begin()->second.name);
}

bool adapter_weights::read(const parameter_spec& p, std::span<float> values) const {
  const bool is_read = read_unchanged(p, values);
  const auto change = changes_.find(p.name);
  if (change != changes_.end()) change_rows(change->second, static_cast<std::size_t>(p.shape.back()), values);
  return is_read;
}

bool adapter_weights::read_unchanged(const parameter_spec& p, std::span<float> values) const {
  const auto place = places_.find(p.name);
  if (place == places_.end()) return base_->read(p, values);
  tensors_->verify();
  if (const std::size_t wrong = widen_mapped(place->second->tensor, values))
    refuse_tensor(*place->second, fmt::format("{} of {} values are not finite", wrong, values.size()));
  return true;
}

bool adapter_weights::replaces(const std::string& parameter) const {
  return places_.contains(parameter) || changes_.contains(parameter);
}

std::string adapter_weights::identity() const { return fmt::format("{}, adapter {}", base_->identity(), identity_); }

std::string adapter_weights::files() const { return fmt::format("{} and {}", base_->files(), tensors_->files()); }

std::string adapter_weights::origin(const std::string& parameter) const {
  return replaces(parameter) ? fmt::format("{} {}", tensors_->absolute_folder(), identity_) : base_->origin(parameter);
}

bool adapter_weights::differs_from_base(const std::string& parameter) const {
  return replaces(parameter) || base_->differs_from_base(parameter);
}

}  // namespace hydra
