#include "apps/simulate/recorded_policy.hpp"

#include "actors/plugin/named_item.hpp"
#include "apps/run_folder/run_folder.hpp"
#include "apps/workload/convert.hpp"
#include "apps/workload/parse.hpp"
#include "apps/workload/run_keys.hpp"
#include "runtime/base/text_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

constexpr const char* advice = "give the plug-in that has it by --plugin, or other policies by --policies";

/// "band-hold(critical_units=2)", in the format of --policies.
std::string text_of(const std::string& name, const value_table* options) {
  std::vector<std::string> given;
  for (const table_entry& e : options ? options->entries : std::vector<table_entry>{})
    if (e.key != "name") given.push_back(fmt::format("{}={}", e.key, real_from(e.is)));
  return given.empty() ? name : fmt::format("{}({})", name, fmt::join(given, ","));
}

/// False also if only a built-in policy has that name.
bool is_of_plugin(const policy_registry& registry, const std::string& name) {
  const std::vector<known_policy> all = registry.all();
  return std::ranges::any_of(all, [&](const known_policy& p) { return p.entry.name == name && !p.plugin.empty(); });
}

/// The policy's name without its plug-in, after the plug-in was loaded into the registry.
std::string name_of(const std::string& which, const std::string& ran, policy_registry& registry) {
  if (!names_plugin(which)) return which;
  if (is_of_plugin(registry, ran)) return ran;
  return registry.find(which).entry.name;
}

/// Loads the plug-ins that still exist; the others may have been given by --plugin.
void load_plugins(const value_table& run, policy_registry& registry) {
  std::error_code ignored;
  for (const value& v : sub_tables(run, "plugins"))
    if (const auto file = to<fs::path>(v); fs::exists(file, ignored)) registry.load(file);
}

/// The policy as --policies writes it; without the key, the policy that ran.
std::string choice_in(const value_table& run, const std::string& ran, policy_registry& registry) {
  const value* const v = run.find("policy");
  if (!v) return ran;
  const auto* const table = v->as<value_table>();
  return text_of(name_of(to<std::string>(table ? *table->find("name") : *v), ran, registry), table);
}

recorded_policy read_policy_of(const fs::path& file, const std::string& ran, policy_registry& registry) {
  const value_table root = parse_toml(read_text(file, text_kind::settings), file.string());
  const value_table& run = sub_table(root, "run");
  load_plugins(run, registry);
  return {std::move(parse_policies(choice_in(run, ran, registry), registry).front()), read_session_options(root, "run").seed};
}

}  // namespace

recorded_policy policy_of_run(const fs::path& folder, const report& r, policy_registry& registry) {
  std::error_code ignored;
  const std::string ran = r.policy.substr(0, r.policy.find(", "));  // without the suffix of the ablation
  const fs::path file = folder / workload_file;
  try {
    if (fs::exists(file, ignored)) return read_policy_of(file, ran, registry);
    return {std::move(parse_policies(ran, registry).front()), r.seed};
  } catch (const fault_error& e) {
    throw fault_error{e.what_happened().code, fmt::format("the policy of the run: {}; {}", e.what_happened().text, advice)};
  }
}

}  // namespace hydra::apps
