#include "apps/commands/set_option.hpp"

namespace hydra::apps {

void add_set_option(command_line& line, std::vector<std::string>& into) {
  line.add_option("--set", into,
                 "key=value instead of the file's: run.seed=3, device.memory=12MiB (all devices), model.steps=5 (all "
                 "models), model.NAME.steps=5; may be repeated")
      .repeated("KEY=VALUE");
}

std::vector<key_override> parse_overrides(const std::vector<std::string>& texts) {
  std::vector<key_override> all;
  for (const std::string& text : texts) all.push_back(parse_override(text));
  return all;
}

}  // namespace hydra::apps
