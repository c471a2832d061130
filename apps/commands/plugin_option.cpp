#include "apps/commands/plugin_option.hpp"

#include <memory>
#include <utility>

namespace hydra::apps {

void add_plugin_option(CLI::App& app, std::vector<std::string>& into) {
  app.add_option("--plugin", into, "shared object to load: its policies and devices are known by name; may be repeated")
      ->type_size(1)
      ->allow_extra_args(false);
}

key_override plugins_override(const std::vector<std::string>& files) {
  const place where{std::make_shared<std::string>("--plugin"), 0};
  value_list all;
  for (const std::string& file : files) all.push_back(text_value(file, where));
  return {.path = "run.plugins", .is = {where, "", std::move(all)}, .adds = true};
}

}  // namespace hydra::apps
