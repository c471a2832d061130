#include "models/weights/adapter_targets.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/text_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>

namespace hydra {
namespace {

using nlohmann::json;

constexpr const char* targets_key = "target_modules";
constexpr const char* layers_key = "layers_to_transform";

std::vector<std::string> texts_of(const model_config& config, const char* key) {
  const json& list = config.content().at(key);
  const bool texts = list.is_array() && std::ranges::all_of(list, [](const json& name) { return name.is_string(); });
  if (!texts) config.refuse(key, "is no list of names of modules");
  return list.get<std::vector<std::string>>();
}

module_pattern pattern_of(const model_config& config, const char* key, const std::string& pattern) try {
  return module_pattern{pattern};
} catch (const fault_error& e) {
  config.refuse(key, e.what_happened().text);
}

module_choice choice_of(const model_config& config, const char* key) {
  if (!config.has(key)) return {};
  if (!config.content().at(key).is_string()) return {.names = texts_of(config, key)};
  return {.pattern = pattern_of(config, key, config.text(key, ""))};
}

std::optional<std::vector<std::int64_t>> layers_of(const model_config& config) {
  if (!config.has(layers_key)) return std::nullopt;
  if (config.content().at(layers_key).is_number()) return std::vector{config.integer(layers_key)};
  std::vector<std::int64_t> layers = config.integers(layers_key);
  return layers.empty() ? std::nullopt : std::optional{std::move(layers)};  // for PEFT an empty list is none
}

std::vector<std::string> layer_lists_of(const model_config& config) {
  const char* const key = "layers_pattern";
  if (!config.has(key)) return {};
  if (config.content().at(key).is_string()) return {config.text(key, "")};
  return texts_of(config, key);
}

std::vector<std::string_view> name_parts(std::string_view name) {
  std::vector<std::string_view> parts;
  for (std::size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.')) {
    parts.push_back(name.substr(0, dot));
    name.remove_prefix(dot + 1);
  }
  parts.push_back(name);
  return parts;
}

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional{number} : std::nullopt;
}

/// The number after the name of one of these lists of layers: 3 of "model.layers.3.mlp.up_proj". With no names after any
/// that is not the first part.
std::optional<std::int64_t> layer_of(const std::string& module, const std::vector<std::string>& lists) {
  const std::vector<std::string_view> parts = name_parts(module);
  std::string before{parts.front()};
  for (std::size_t i = 1; i + 1 < parts.size(); before.append(".").append(parts[i++])) {
    const auto number = number_in(parts[i]);
    const bool named = lists.empty() ? i > 1 : std::ranges::any_of(lists, [&](const auto& list) {
      return names_module(list, before);
    });
    if (number && named) return number;
  }
  return std::nullopt;
}

std::optional<double> first_of(const std::vector<std::pair<module_pattern, double>>& numbers, const std::string& module) {
  const auto found = std::ranges::find_if(numbers, [&](const auto& entry) { return entry.first.matches(module); });
  return found == numbers.end() ? std::nullopt : std::optional{found->second};
}

}  // namespace

bool module_choice::holds(const std::string& module) const {
  if (pattern) return pattern->matches(module);
  return std::ranges::any_of(names, [&](const std::string& name) { return names_module(name, module); });
}

adapter_targets::adapter_targets(const model_config& config)
    : file_(config.file()),
      targets_(choice_of(config, targets_key)),
      excluded_(choice_of(config, "exclude_modules")),
      layer_lists_(layer_lists_of(config)),
      layers_(layers_of(config)),
      ranks_(numbers_of(config, "rank_pattern")),
      alphas_(numbers_of(config, "alpha_pattern")) {
  if (!config.has(targets_key)) config.refuse(targets_key, "is missing");
  all_linear_ = config.content().at(targets_key) == lora_options::all_linear;
  if (layers_ && targets_.pattern) config.refuse(layers_key, "is not used by PEFT with a pattern of target_modules");
  if (config.has("modules_to_save")) also_train_ = texts_of(config, "modules_to_save");
}

adapter_targets::number_list adapter_targets::numbers_of(const model_config& config, const char* key) {
  number_list numbers;
  if (!config.has(key)) return numbers;
  const auto table = parse_ordered_json(read_text(config.file()))[key];  // `config` has lost the order
  if (!table.is_object()) config.refuse(key, "is no table of modules and numbers");
  for (const auto& [name, value] : table.items()) {
    const bool whole = value.is_number_integer();
    if (!value.is_number() || (!whole && std::string_view{key} == "rank_pattern") || !(value.get<double>() > 0))
      config.refuse(key, fmt::format("{}: {} is no positive number", name, json_text(value)));
    numbers.emplace_back(pattern_of(config, key, fmt::format("(?:.*\\.)?(?:{})", name)), value.get<double>());
  }
  return numbers;
}

/// PEFT adapts none that it trains as a whole.
bool adapter_targets::is_left_out(const std::string& module) const {
  return excluded_.holds(module) || std::ranges::any_of(also_train_, [&](const std::string& name) {
           return names_module_around(name, module);
         });
}

/// A full name is adapted in any layer.
bool adapter_targets::is_in_layers(const std::string& module) const {
  if (!layers_ || std::ranges::find(targets_.names, module) != targets_.names.end()) return true;
  const auto layer = layer_of(module, layer_lists_);
  return layer && std::ranges::find(*layers_, *layer) != layers_->end();
}

bool adapter_targets::adapts(const std::string& module) const {
  return (all_linear_ || targets_.holds(module)) && is_in_layers(module);
}

std::vector<std::string> adapter_targets::chosen_in(const chain& model) const {
  std::vector<std::string> modules = all_linear_ ? all_linear_modules(model) : modules_of(model);
  std::erase_if(modules, [this](const std::string& module) { return !adapts(module); });
  return modules;
}

lora_options adapter_targets::in(const chain& model, lora_options common) const {
  std::vector<std::string> chosen = chosen_in(model);
  const bool some = std::erase_if(chosen, [this](const std::string& module) { return is_left_out(module); }) > 0;
  const std::vector<std::string> linear = all_linear_modules(model);
  if (chosen.empty() && !linear.empty())
    refuse(fmt::format("{}: {}: names no module of the model, which has modules such as {}", file_, targets_key,
                       linear.front()));
  for (const std::string& module : chosen) {
    if (const auto rank = first_of(ranks_, module)) common.rank_of[module] = static_cast<std::int64_t>(*rank);
    if (const auto alpha = first_of(alphas_, module)) common.alpha_of[module] = *alpha;
  }
  common.also_train = also_train_;
  if (all_linear_ && !some)
    common.targets = {lora_options::all_linear};
  else
    common.targets = targets_.pattern || layers_ || some ? std::move(chosen) : targets_.names;
  return of_modules_in(model, std::move(common));
}

}  // namespace hydra
