#include "models/weights/saved_modules.hpp"

#include "models/lora.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>

namespace hydra {
namespace {

using name_list = std::vector<std::string>;
using module_test = std::function<bool(std::string_view module)>;

/// "model.layers" and "model.layers.0.mlp" are such modules of "model.layers.0.mlp.up_proj".
std::optional<std::string> outermost(const std::string& module, const module_test& is_meant) {
  for (std::size_t end = module.find('.'); end != std::string::npos; end = module.find('.', end + 1))
    if (is_meant(std::string_view{module}.substr(0, end))) return module.substr(0, end);
  return is_meant(module) ? std::optional{module} : std::nullopt;
}

/// Full names of the modules that a test means, without those inside them.
name_list meant_in(const name_list& modules, const module_test& is_meant) {
  name_list meant;
  for (const std::string& module : modules)
    if (auto found = outermost(module, is_meant); found && std::ranges::find(meant, *found) == meant.end())
      meant.push_back(std::move(*found));
  return meant;
}

name_list meant_by_peft(const name_list& modules, const std::string& name) {
  return meant_in(modules, [&](std::string_view module) { return module.ends_with(name); });
}

name_list meant_by_hydra(const name_list& modules, const std::string& name) {
  return meant_in(modules, [&](std::string_view module) { return names_module(name, module); });
}

/// Each name as it is where both mean the same, else what `one` means.
name_list translated(const name_list& modules, const name_list& names,
                     name_list (*one)(const name_list& modules, const std::string& name)) {
  name_list all;
  for (const std::string& name : names) {
    const bool is_same = meant_by_peft(modules, name) == meant_by_hydra(modules, name);
    std::ranges::copy(is_same ? name_list{name} : one(modules, name), std::back_inserter(all));
  }
  return all;
}

}  // namespace

std::vector<std::string> read_saved_modules(const chain& model, const std::vector<std::string>& names) {
  return translated(modules_of(model), names, &meant_by_peft);
}

std::vector<std::string> written_saved_modules(const chain& adapted, const std::vector<std::string>& names) {
  return translated(modules_of(without_adapter(adapted)), names, &meant_by_hydra);
}

}  // namespace hydra
