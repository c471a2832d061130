#pragma once
// Layers with attention over a window in a config.json, as transformers writes them.

#include "models/weights/model_config.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace hydra {

/// The layers that "layer_types" calls full_attention; without that key those for which `is_full` holds. Throws
/// fault_error{bad_input} with the key if it is not "full_attention" or "sliding_attention" for each layer.
std::vector<std::int64_t> full_layers_from(const model_config& config, std::int64_t layers,
                                           const std::function<bool(std::int64_t)>& is_full);

/// "layer_types" of a model with a window, or without one.
nlohmann::json layer_types(std::int64_t layers, std::int64_t window, const std::vector<std::int64_t>& full_layers);

}  // namespace hydra
