#include "apps/commands/shared_options.hpp"

#include <memory>
#include <utility>

namespace hydra::apps {

void add_set_option(command_line& line, std::vector<std::string>& into) {
  line.add_option("--set", into,
                 "key=value instead of the file's: run.seed=3, device.memory=12MiB (all devices), model.steps=5 (all "
                 "models), model.NAME.steps=5; may be repeated")
      .repeated("KEY=VALUE");
}

void add_plugin_option(command_line& line, std::vector<std::string>& into) {
  line.add_option("--plugin", into,
                  "shared object to load: its policies, devices and search rules are known by name; may be repeated")
      .repeated();
}

declared_option add_base_option(command_line& line, std::vector<std::string>& into) {
  return line
      .add_option("--base", into,
                  "where a checkpoint is now that models of the run began from, if it is not where it was: a folder "
                  "with the same weights; may be repeated")
      .repeated("FOLDER");
}

std::vector<key_override> parse_overrides(const std::vector<std::string>& set,
                                          const std::vector<std::string>& plugins) {
  std::vector<key_override> all;
  for (const std::string& text : set) all.push_back(parse_override(text));
  if (plugins.empty()) return all;
  const place where{std::make_shared<std::string>("--plugin"), 0};
  value_list files;
  for (const std::string& file : plugins) files.push_back(text_value(file, where));
  all.push_back({.path = "run.plugins", .is = {where, "", std::move(files)}, .adds = true});
  return all;
}

}  // namespace hydra::apps
