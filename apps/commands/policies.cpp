#include "apps/commands/commands.hpp"

#include "actors/session/policy_registry.hpp"
#include "apps/commands/shared_options.hpp"
#include "apps/workload/run_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace hydra::apps {

namespace {

void print_options(const policy_entry& p, std::size_t width) {
  for (const option& o : p.options)
    fmt::print("{:<{}}    {} = {} ({} to {}): {}\n", "", width, o.name, default_text(o), o.range.least, o.range.most,
               o.help);
}

int list_policies(const std::vector<std::string>& plugins) {
  policy_registry registry;
  for (const std::string& file : plugins) registry.load(file);
  std::size_t width = 0;
  const std::vector<known_policy> all = registry.all();
  for (const known_policy& p : all) width = std::max(width, p.entry.name.size());
  const std::string standard = run_rules().find("policy")->fallback;
  for (const known_policy& p : all) {
    fmt::print("{:<{}}  {}{}{}\n", p.entry.name, width, p.entry.help, p.entry.name == standard ? " (default)" : "",
               p.plugin.empty() ? "" : fmt::format(" ({})", p.plugin.filename().string()));
    print_options(p.entry, width);
  }
  return 0;
}

}  // namespace

command_action declare_policies(command_line& line) {
  auto plugins = std::make_shared<std::vector<std::string>>();
  add_plugin_option(line, *plugins);
  return [plugins] { return list_policies(*plugins); };
}

}  // namespace hydra::apps
