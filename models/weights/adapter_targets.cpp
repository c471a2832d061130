#include "models/weights/adapter_targets.hpp"

#include "models/weights/listed_names.hpp"
#include "models/weights/saved_modules.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/base/text_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace hydra {
namespace {

using nlohmann::json;

constexpr const char* targets_key = "target_modules";
constexpr const char* layers_key = "layers_to_transform";
constexpr const char* saved_key = "modules_to_save";
constexpr const char* ranks_key = "rank_pattern";
constexpr const char* alphas_key = "alpha_pattern";

std::vector<std::string> texts_of(const model_config& config, const char* key) {
  const json& list = config.content().at(key);
  const bool texts = list.is_array() && std::ranges::all_of(list, [](const json& name) { return name.is_string(); });
  if (!texts) config.refuse(key, "is not a list of names of modules");
  return list.get<std::vector<std::string>>();
}

std::string place_of(const model_config& config, const char* key) { return fmt::format("{}: {}", config.file(), key); }

std::vector<std::string> texts_if_there(const model_config& config, const char* key) {
  return config.has(key) ? texts_of(config, key) : std::vector<std::string>{};
}

module_choice choice_of(const model_config& config, const char* key) {
  if (!config.has(key)) return {};
  if (!config.content().at(key).is_string()) return {.names = texts_of(config, key)};
  return {.pattern = module_pattern{config.text(key, ""), place_of(config, key)}};
}

std::optional<std::vector<std::int64_t>> layers_of(const model_config& config) {
  if (!config.has(layers_key)) return std::nullopt;
  if (config.content().at(layers_key).is_number()) return std::vector{config.integer(layers_key)};
  std::vector<std::int64_t> layers = config.integers(layers_key);
  return layers.empty() ? std::nullopt : std::optional{std::move(layers)};  // for PEFT an empty list is none
}

/// Patterns of names of modules with the number of a layer. An empty text, too, means any list of layers; that is not
/// the first part of a name.
std::vector<module_pattern> layer_lists_of(const model_config& config) {
  const char* const key = "layers_pattern";
  const bool is_text = config.has(key) && config.content().at(key).is_string();
  std::vector<std::string> lists = is_text ? std::vector{config.text(key, "")} : texts_if_there(config, key);
  if (lists.empty() || (is_text && lists.front().empty()))
    return {module_pattern{R"(.*?\.[^.]*\.(?P<idx>\d+)\..*)", place_of(config, key)}};
  std::vector<module_pattern> patterns;
  for (const std::string& list : lists)
    patterns.emplace_back(fmt::format(R"((?:(?:^|.*?\.){}\.(?P<idx>\d+)\.).*)", list), place_of(config, key));
  return patterns;
}

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional{number} : std::nullopt;
}

/// 3 of "model.layers.3.mlp.up_proj".
std::optional<std::int64_t> layer_of(const std::string& module, const std::vector<module_pattern>& lists) {
  for (const module_pattern& list : lists)
    if (const auto number = list.group_in(module, "idx")) return number_in(*number);
  return std::nullopt;
}

double rank_of(const model_config& table, std::string_view name) { return static_cast<double>(read_rank(table, name)); }

double alpha_of(const model_config& table, std::string_view name) {
  const double alpha = table.real(name);
  if (!(alpha > 0)) table.refuse(name, fmt::format("{} is not positive", alpha));
  return alpha;
}

}  // namespace

std::int64_t read_rank(const model_config& config, std::string_view key) {
  const std::int64_t rank = config.integer(key);
  if (rank < 1 || rank > lora_options::largest_rank)
    config.refuse(key, fmt::format("{} is not a rank from 1 to {}", rank, lora_options::largest_rank));
  return rank;
}

bool module_choice::holds(const std::string& module) const {
  if (pattern) return pattern->matches(module);
  return std::ranges::any_of(names, [&](const std::string& name) { return names_module(name, module); });
}

adapter_targets::adapter_targets(const model_config& config)
    : file_(config.file()),
      targets_(choice_of(config, targets_key)),
      excluded_(choice_of(config, "exclude_modules")),
      also_train_(texts_if_there(config, saved_key)),
      layer_lists_(layer_lists_of(config)),
      layers_(layers_of(config)),
      ranks_(numbers_of(config, ranks_key, &rank_of)),
      alphas_(numbers_of(config, alphas_key, &alpha_of)) {
  if (!config.has(targets_key)) config.refuse(targets_key, "is missing");
  all_linear_ = config.content().at(targets_key) == lora_options::all_linear;
  if (layers_ && targets_.pattern) config.refuse(layers_key, "is not used by PEFT with a pattern of target_modules");
}

adapter_targets::number_list adapter_targets::numbers_of(const model_config& config, const char* key,
                                                         double (*read)(const model_config&, std::string_view)) {
  number_list numbers;
  const auto table = config.table(key);
  if (!table) return numbers;
  const auto ordered =
      parse_ordered_json(read_text(config.file(), text_kind::settings));  // `config` has lost the order
  for (const auto& [name, value] : ordered.at(key).items())
    numbers.push_back(
        {name, module_pattern{fmt::format("(?:.*\\.)?(?:{})", name), place_of(config, key)}, read(*table, name)});
  return numbers;
}

std::optional<double> adapter_targets::first_of(const number_list& numbers, const std::string& module) {
  const auto found = std::ranges::find_if(numbers, [&](const module_number& n) { return n.pattern.matches(module); });
  return found == numbers.end() ? std::nullopt : std::optional{found->number};
}

/// PEFT adapts none that it trains as a whole.
bool adapter_targets::is_left_out(const std::string& module) const {
  return excluded_.holds(module) ||
         std::ranges::any_of(also_train_, [&](const std::string& name) { return names_module_around(name, module); });
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

void adapter_targets::refuse_key(const char* key, const std::string& why) const {
  refuse(fmt::format("{}: {}: {}", file_, key, why));
}

/// `saved`: of modules_to_save.
void adapter_targets::require_adaptable(const chain& model, const std::vector<std::string>& chosen,
                                        const std::vector<std::string>& saved,
                                        const std::vector<std::string>& embeddings) const {
  const std::vector<std::string> known = adaptable_modules(model, saved);
  if (chosen.empty() && !embeddings.empty())
    refuse_key(targets_key, fmt::format("names {} and no linear map: nothing would be trained; {}",
                                        listed_names(embeddings), merge_by_peft));
  if (chosen.empty())
    refuse_key(targets_key, fmt::format("names no module of the model, which has modules such as {}",
                                        known.empty() ? modules_of(model).front() : known.front()));
  for (const std::string& module : chosen) {
    if (std::ranges::find(known, module) == known.end())
      refuse_key(targets_key, fmt::format("names {}, which is not a linear map with a weight of its own, as an "
                                          "embedding, a convolution and a tied head are none; {}",
                                          module, merge_by_peft));
    if (std::ranges::any_of(saved, [&](const std::string& name) { return names_module_around(name, module); }))
      refuse_key(saved_key, fmt::format("names {}, which {} adapts; one of them is enough", module, targets_key));
  }
}

std::vector<std::string> adapter_targets::unused_patterns(const std::vector<std::string>& adapted) const {
  std::vector<std::string> notes;
  for (const auto& [key, list] : {std::pair{ranks_key, &ranks_}, {alphas_key, &alphas_}})
    for (const module_number& n : *list)
      if (std::ranges::none_of(adapted, [&](const std::string& module) { return n.pattern.matches(module); }))
        notes.push_back(fmt::format("{}: {}: \"{}\" matches no adapted module, so that its {:g} is not used", file_,
                                    key, shown(n.name), n.number));
  return notes;
}

bool adapter_targets::names(const std::string& module) const {
  return !all_linear_ && adapts(module) && !is_left_out(module);
}

lora_options adapter_targets::of_module(const std::string& module, lora_options common) const {
  if (const auto rank = first_of(ranks_, module)) common.rank_of[module] = static_cast<std::int64_t>(*rank);
  if (const auto alpha = first_of(alphas_, module)) common.alpha_of[module] = *alpha;
  return common;
}

lora_options adapter_targets::in(const chain& model, lora_options common,
                                 const std::vector<std::string>& embeddings) const {
  std::vector<std::string> chosen = chosen_in(model);
  const auto is_other = [&](const std::string& module) {
    return is_left_out(module) || std::ranges::find(embeddings, module) != embeddings.end();
  };
  const bool some = std::erase_if(chosen, is_other) > 0;
  common.also_train = read_saved_modules(model, also_train_);
  require_adaptable(model, chosen, common.also_train, embeddings);
  for (const std::string& module : chosen) common = of_module(module, std::move(common));
  if (all_linear_ && !some)
    common.targets = {lora_options::all_linear};
  else
    common.targets = targets_.pattern || layers_ || some ? std::move(chosen) : targets_.names;
  return of_modules_in(model, std::move(common));
}

}  // namespace hydra
