#include "apps/simulate/recorded_policy.hpp"

#include "actors/plugin/named_item.hpp"
#include "apps/run_folder/run_folder.hpp"
#include "apps/workload/check.hpp"
#include "apps/workload/convert.hpp"
#include "apps/workload/foreign_code.hpp"
#include "apps/workload/parse.hpp"
#include "apps/workload/run_keys.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/text_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <vector>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

/// "band-hold(critical_units=2)", in the format of --policies.
std::string text_of(const std::string& name, const std::map<std::string, double>& options) {
  std::vector<std::string> given;
  for (const auto& [key, number] : options) given.push_back(fmt::format("{}={}", key, number));
  return given.empty() ? name : fmt::format("{}({})", name, fmt::join(given, ","));
}

/// False also if only a built-in policy has that name.
bool is_of_plugin(const policy_registry& registry, const std::string& name) {
  const std::vector<known_policy> all = registry.all();
  return std::ranges::any_of(all, [&](const known_policy& p) { return p.entry.name == name && !p.plugin.empty(); });
}

/// The policy; a plug-in that has it is in the registry already. `ran`: its name in the report.
known_policy find_given(const std::string& which, const std::string& ran, policy_registry& registry) {
  if (!names_plugin(which)) return registry.find(which);
  if (!names_plugin(ran) && is_of_plugin(registry, ran)) return registry.find(ran);
  std::vector<std::string> given;
  for (const plugin& p : registry.plugins()) given.push_back(p.file.string());
  const auto mine = of_own_plugin(which, given);
  if (!mine) refuse(fmt::format("\"{}\" is of a plug-in", which));
  return registry.find(*mine);
}

/// Without the key, the policy that ran.
named_choice choice_in(const value_table& run, const std::string& ran) {
  const value* const v = run.find("policy");
  return v ? read_choice(*v) : named_choice{.which = ran};
}

/// Empty for a folder without the file.
value_table workload_of(const fs::path& folder) {
  std::error_code ignored;
  const fs::path file = folder / workload_file;
  if (!fs::exists(file, ignored)) return {};
  value_table root = parse_toml(read_text(file, text_kind::settings), file.string());
  if (const auto* const keys = content_of<value_table>(root.find("run")))
    check_table({*keys, root.find("run")->where, "run."}, run_rules());
  resolve_plugins(root);
  return root;
}

/// What to do about a policy that is not known.
std::string advice_on_plugins(const value_table& root) {
  const std::vector<plugin_file> named = named_plugins(root);
  return fmt::format("{}give the plug-in that has it by --plugin FILE, or other policies by --policies",
                     named.empty() ? "" : not_loaded(named) + ": ");
}

/// The result of `work`, or its fault with what to do.
template <class Work>
auto advised(const std::string& advice, Work work) try {
  return work();
} catch (const fault_error& e) {
  throw fault_error{e.what_happened().code,
                    fmt::format("the policy of the run: {}; {}", e.what_happened().text, advice)};
}

}  // namespace

recorded_policy policy_of_run(const fs::path& folder, const report& r, policy_registry& registry) {
  const std::string ran = r.policy.substr(0, r.policy.find(", "));  // without the suffix of the ablation
  const value_table root = workload_of(folder);
  const std::uint64_t seed = root.entries.empty() ? r.seed : read_session_options(root, "run").seed;
  const named_choice choice = choice_in(sub_table(root, "run"), ran);
  const known_policy known = advised(advice_on_plugins(root), [&] { return find_given(choice.which, ran, registry); });
  return {advised("give other policies by --policies",  // it is an actor, or has no such option
                  [&] { return listed(text_of(known.entry.name, choice.options), known, choice.options); }),
          seed};
}

}  // namespace hydra::apps
