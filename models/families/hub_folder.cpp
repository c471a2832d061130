#include "models/families/hub_folder.hpp"

#include "models/families/config_keys.hpp"
#include "models/families/exported_folder.hpp"
#include "models/weights/hub_weights.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/nearest.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace hydra {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* architectures_key = "architectures";

std::vector<std::string> known_names() {
  std::vector<std::string> names;
  std::ranges::transform(architectures(), std::back_inserter(names), &architecture::name);
  return names;
}

std::string name_in(const model_config& config) {
  const auto list = config.content().find(architectures_key);
  if (list == config.content().end() || !list->is_array() || list->size() != 1 || !list->front().is_string())
    config.refuse(architectures_key, "is no list of one name, which says what the weights are, such as [\"GPT2LMHeadModel\"]");
  return list->front().get<std::string>();
}

const architecture& architecture_of(const model_config& config) {
  const std::string name = name_in(config);
  const auto& all = architectures();
  const auto found = std::ranges::find(all, name, &architecture::name);
  if (found != all.end()) return *found;
  if (config.has("text_config"))
    config.refuse(architectures_key,
                  fmt::format("\"{}\" also reads what is no text; Hydra trains its language model if that is saved "
                              "alone first, as docs/tutorial.md says",
                              name));
  config.refuse(architectures_key, fmt::format("\"{}\" is not an architecture that Hydra reads{}", name,
                                 known_instead(name, known_names())));
}

/// Each layer has its own tensors. A file from an unknown source must not create a chain of arbitrary length.
void require_stored(const model_config& config, const char* layers_key, std::int64_t layers, std::size_t tensors) {
  if (layers <= static_cast<std::int64_t>(tensors)) return;
  config.refuse(layers_key, fmt::format("{} layers, but the folder has {} tensors", layers, tensors));
}

void require_layers(const model_config& config, std::size_t tensors) {
  for (const char* const layers : {"n_layer", "num_hidden_layers"})
    if (config.has(layers)) require_stored(config, layers, config.integer(layers), tensors);
  if (!config.has("depths")) return;
  for (const std::int64_t layers : config.integers("depths")) require_stored(config, "depths", layers, tensors);
}

}  // namespace

chain_description describe_from(const fs::path& folder, const from_options& options) {
  if (!fs::is_directory(folder))
    throw fault_error{fault_code::bad_input, fmt::format("{} is no folder; the folder of a checkpoint is needed, with "
                                                         "config.json and model.safetensors", folder.string())};
  if (is_exported(folder)) return describe_exported(folder, options);
  const auto config = model_config::read(folder / "config.json");
  config.require("pruned_heads", json::object());
  chain_description description = architecture_of(config).read(config, options);
  const auto tensors = std::make_shared<const hub_tensors>(folder);
  require_layers(config, tensors->all().size());
  description.checkpoint = folder;
  const auto head = options.head.empty() ? hub_head::stored : hub_head::fresh;
  description.build = [build = std::move(description.build), tensors, head,
                       notes = unread_keys(config)](const data_source& data) {
    chain made = build(data);
    for (const std::string& n : notes) made.note(n);
    made.begin_with(std::make_shared<hub_weights>(tensors, made, head));
    return made;
  };
  return description;
}

}  // namespace hydra
