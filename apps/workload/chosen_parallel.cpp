#include "apps/workload/chosen_parallel.hpp"

#include "apps/workload/convert.hpp"
#include "apps/workload/to_toml.hpp"
#include "runtime/base/counted.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace hydra::apps {

namespace {

/// Null if there is none of that name.
const value_table* model_in(const value_table& root, const std::string& name) {
  for (const value& each : sub_tables(root, "model")) {
    const auto* table = each.as<value_table>();
    if (table && table->text("name") == name) return table;
  }
  return nullptr;
}

/// 1 if the model does not have it; none if that was not chosen either.
std::optional<std::uint32_t> chosen_number(const value_table& model, std::string_view key) {
  const value* const n = find_path(model, "parallel." + std::string{key});
  if (!n) return 1;
  return content_of<std::int64_t>(n) ? std::optional(to<std::uint32_t>(*n)) : std::nullopt;
}

void set_number(workload& w, const std::string& model, std::string_view key, std::uint32_t n) {
  auto* keys = const_cast<value_table*>(model_in(w.as_run, model));
  if (!keys) return;
  const place where = place_of(*keys, "parallel", w.file);
  set_path(*keys, "parallel." + std::string{key}, {where, std::to_string(n), static_cast<std::int64_t>(n)});
}

void set_switch(workload& w, const std::string& model, std::string_view key, bool on) {
  auto* keys = const_cast<value_table*>(model_in(w.as_run, model));
  if (!keys) return;
  const place where = place_of(*keys, "parallel", w.file);
  set_path(*keys, "parallel." + std::string{key}, {where, on ? "true" : "false", on});
}

bool is_true(const value* v) { return content_of<bool>(v) && to<bool>(*v); }

void set_replicas(workload& w, model_entry& m, std::uint32_t n) {
  m.description.parallel.replicas = n;
  set_number(w, m.description.name, "replicas", n);
}

void set_waves(workload& w, model_entry& m, std::uint32_t n) {
  m.description.parallel.waves = n;
  set_number(w, m.description.name, "waves", n);
}

/// What of it was left to the planner stands in the file, too.
void set_division(workload& w, model_entry& m, std::uint32_t pieces, bool side_by_side) {
  chain_description& chain = m.description.chain;
  const open_division open = chain.open;
  if (open.pieces) set_number(w, m.description.name, "pieces", pieces);
  if (open.side_by_side) set_switch(w, m.description.name, "side_by_side", side_by_side);
  chain = open.with(pieces, side_by_side);
}

/// With waves the number of shards is chosen, too, unless the file says where the chain is cut.
void set_shards(workload& w, model_entry& m, std::size_t n) {
  auto* const rule = std::get_if<balanced_cut>(&m.description.cuts);
  if (!rule) return;
  rule->shards = n;
  set_number(w, m.description.name, "shards", static_cast<std::uint32_t>(n));
}

}  // namespace

bool has_choices(const workload& w) {
  return std::ranges::any_of(w.models, [](const model_entry& m) {
    return !m.description.parallel.chosen() || m.description.chain.open.any();
  });
}

void set_chosen(workload& w, const workload_plan& plan) {
  for (model_entry& m : w.models) {
    const auto planned = std::ranges::find(plan.models, m.description.name, &model_plan::name);
    if (planned == plan.models.end()) continue;
    if (m.description.chain.open.any()) set_division(w, m, planned->pieces, planned->shape().abreast > 1);
    if (m.description.parallel.replicas == 0) set_replicas(w, m, planned->replicas);
    if (m.description.parallel.waves > 0) continue;
    set_waves(w, m, planned->waves);
    if (planned->waves > 1) set_shards(w, m, planned->shards.size());
  }
  w.expanded = to_toml(w.as_run);
}

void keep_results(workload& w, const value_table& recorded) {
  for (model_entry& m : w.models) {
    const value_table* const before = model_in(recorded, m.description.name);
    if (!before) continue;
    const auto replicas = chosen_number(*before, "replicas"), pieces = chosen_number(*before, "pieces");
    if (replicas && m.description.parallel.replicas == 0) set_replicas(w, m, *replicas);
    if (pieces && m.description.chain.open.any())
      set_division(w, m, m.description.chain.open.pieces ? *pieces : m.description.chain.pieces,
                   m.description.chain.open.side_by_side ? is_true(find_path(*before, "parallel.side_by_side"))
                                                         : m.description.chain.side_by_side);
  }
  w.expanded = to_toml(w.as_run);
}

std::string idle_devices_note(const workload_plan& plan, std::size_t devices, const std::string& file) {
  std::size_t parts = 0;
  for (const model_plan& m : plan.models) parts += m.shape().lanes();
  if (parts == 0 || parts >= devices) return "";
  return fmt::format(
      "{} on {}: at most {} of them can compute at a time. parallel = {{ waves = \"auto\" }} in a [[model]] with "
      "several micro_batches divides its steps, with the same results; hydra plan {} says what that and replicas bring",
      counted(plan.models.size(), "model"), counted(devices, "device"), parts, file);
}

}  // namespace hydra::apps
