#include "apps/commands/policies.hpp"

#include "actors/policy/catalog.hpp"
#include "apps/workload/run_keys.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hydra::apps {

namespace {

int list_policies() {
  std::size_t width = 0;
  for (const policy_entry& p : built_in_policies()) width = std::max(width, p.name.size());
  const std::string standard = run_rules().find("policy")->fallback;
  for (const policy_entry& p : built_in_policies())
    fmt::print("{:<{}}  {}{}\n", p.name, width, p.help, p.name == standard ? " (default)" : "");
  return 0;
}

}  // namespace

command_action declare_policies(CLI::App&) { return list_policies; }

}  // namespace hydra::apps
