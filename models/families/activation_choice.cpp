#include "models/families/activation_choice.hpp"

#include "runtime/base/nearest.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hydra {

activation activation_option(const char* who, const std::string& name) {
  if (const auto found = activation_named(name)) return *found;
  refuse_unknown(fmt::format("{}: unknown activation", who), name, activation_names());
}

activation activation_key(const model_config& config, std::string_view key) {
  const std::string name = config.text(key, "gelu");
  if (const auto found = activation_named(name)) return *found;
  config.refuse(
      key, fmt::format("\"{}\" is not supported; Hydra knows {}", shown(name), fmt::join(activation_names(), ", ")));
}

}  // namespace hydra
