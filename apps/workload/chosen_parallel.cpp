#include "apps/workload/chosen_parallel.hpp"

#include "apps/workload/convert.hpp"
#include "apps/workload/to_toml.hpp"
#include "runtime/base/counted.hpp"

#include <fmt/format.h>

#include <algorithm>
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

void set_number(workload& w, const std::string& model, std::string_view key, std::uint32_t n) {
  auto* keys = const_cast<value_table*>(model_in(w.as_run, model));
  if (!keys) return;
  const place where = place_of(*keys, "parallel", w.file);
  set_path(*keys, "parallel." + std::string{key}, {where, std::to_string(n), static_cast<std::int64_t>(n)});
}

void set_replicas(workload& w, model_entry& m, std::uint32_t n) {
  m.description.parallel.replicas = n;
  set_number(w, m.description.name, "replicas", n);
}

void set_waves(workload& w, model_entry& m, std::uint32_t n) {
  m.description.parallel.waves = n;
  set_number(w, m.description.name, "waves", n);
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
  return !std::ranges::all_of(w.models, [](const model_entry& m) { return m.description.parallel.chosen(); });
}

void set_chosen(workload& w, const workload_plan& plan) {
  for (model_entry& m : w.models) {
    const auto planned = std::ranges::find(plan.models, m.description.name, &model_plan::name);
    if (planned == plan.models.end()) continue;
    if (m.description.parallel.replicas == 0) set_replicas(w, m, planned->replicas);
    if (m.description.parallel.waves > 0) continue;
    set_waves(w, m, planned->waves);
    if (planned->waves > 1) set_shards(w, m, planned->shards.size());
  }
  w.expanded = to_toml(w.as_run);
}

void keep_replicas(workload& w, const value_table& recorded) {
  for (model_entry& m : w.models) {
    const value_table* const before = model_in(recorded, m.description.name);
    if (m.description.parallel.replicas > 0 || !before) continue;
    const value* const n = find_path(*before, "parallel.replicas");
    if (!n) set_replicas(w, m, 1);
    if (content_of<std::int64_t>(n)) set_replicas(w, m, to<std::uint32_t>(*n));
  }
  w.expanded = to_toml(w.as_run);
}

std::string idle_devices_note(const workload_plan& plan, std::size_t devices, const std::string& file) {
  std::size_t parts = 0;
  for (const model_plan& m : plan.models) parts += std::size_t{m.replicas} * m.waves;
  if (parts == 0 || parts >= devices) return "";
  return fmt::format(
      "{} on {}: at most {} of them can compute at a time. parallel = {{ waves = \"auto\" }} in a [[model]] with "
      "several micro_batches divides its steps, with the same results; hydra plan {} says what that and replicas bring",
      counted(plan.models.size(), "model"), counted(devices, "device"), parts, file);
}

}  // namespace hydra::apps
