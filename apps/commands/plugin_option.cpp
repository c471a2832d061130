#include "apps/commands/plugin_option.hpp"

#include "apps/commands/set_option.hpp"

#include <memory>
#include <utility>

namespace hydra::apps {

void add_plugin_option(command_line& line, std::vector<std::string>& into) {
  line.add_option("--plugin", into,
                  "shared object to load: its policies, devices and search rules are known by name; may be repeated")
      .repeated();
}

std::vector<key_override> parse_overrides(const std::vector<std::string>& set,
                                          const std::vector<std::string>& plugins) {
  std::vector<key_override> all = parse_overrides(set);
  if (plugins.empty()) return all;
  const place where{std::make_shared<std::string>("--plugin"), 0};
  value_list files;
  for (const std::string& file : plugins) files.push_back(text_value(file, where));
  all.push_back({.path = "run.plugins", .is = {where, "", std::move(files)}, .adds = true});
  return all;
}

}  // namespace hydra::apps
