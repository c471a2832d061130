#include "models/families/window_config.hpp"

#include "models/families/decoder.hpp"
#include "runtime/base/json_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace hydra {
namespace {

using nlohmann::json;

constexpr std::int64_t most_layers = 10'000;  // a file from an unknown source must not make a list of any length
constexpr const char *layer_types_key = "layer_types", *full = "full_attention", *sliding = "sliding_attention";

}  // namespace

std::vector<std::int64_t> full_layers_from(const model_config& config, std::int64_t layers,
                                           const std::function<bool(std::int64_t)>& is_full) {
  if (layers > most_layers)
    config.refuse("num_hidden_layers", fmt::format("{} are too many beside a window; at most {}", layers, most_layers));
  const auto found = config.content().find(layer_types_key);
  const bool listed = config.has(layer_types_key);
  if (listed && (!found->is_array() || std::ssize(*found) != layers))
    config.refuse(layer_types_key, fmt::format("is not a list with a kind for each of {} layers", layers));
  std::vector<std::int64_t> result;
  for (std::int64_t i = 0; i < layers; ++i) {
    const json kind = listed ? (*found)[static_cast<std::size_t>(i)] : json(is_full(i) ? full : sliding);
    if (kind != full && kind != sliding)
      config.refuse(layer_types_key,
                    fmt::format("{} is not supported; Hydra knows only {} and {}", shown_json(kind), full, sliding));
    if (kind == full) result.push_back(i);
  }
  return result;
}

json layer_types(std::int64_t layers, std::int64_t window, const std::vector<std::int64_t>& full_layers) {
  json all = json::array();
  for (std::int64_t i = 0; i < layers; ++i) all.push_back(is_windowed(i, window, full_layers) ? sliding : full);
  return all;
}

}  // namespace hydra
