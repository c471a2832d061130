#include "models/weights/quantised_weights.hpp"

#include "runtime/base/json_text.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace hydra {
namespace {

/// Suffixes of names: of a Linear's own weight; as GPTQ and AWQ, compressed-tensors, HQQ, quanto and torchao store it.
constexpr std::array<std::string_view, 6> weight_suffixes{"weight", "qweight",      "weight_packed",
                                                          "W_q",    "weight._data", "qdata"};
constexpr std::array quantised_types{stored_type::u8,  stored_type::i8,  stored_type::i16,     stored_type::i32,
                                     stored_type::u16, stored_type::u32, stored_type::f8_e4m3, stored_type::f8_e5m2};

bool is_quantised(const hub_tensor& t) {
  return std::ranges::find(quantised_types, t.tensor.type) != quantised_types.end() &&
         std::ranges::any_of(weight_suffixes, [&](std::string_view suffix) { return t.name.ends_with(suffix); });
}

/// " (quant_method = \"gptq\")"; empty if config.json does not say it.
std::string method_in(const model_config& config) {
  const auto how = config.content().find("quantization_config");
  if (how == config.content().end() || !how->is_object() || !how->contains("quant_method")) return {};
  return fmt::format(" (quant_method = {})", json_text((*how)["quant_method"]));
}

}  // namespace

void refuse_quantised_weights(const model_config& config, const hub_tensors& tensors) {
  for (const auto& [name, t] : tensors.all())
    if (is_quantised(t))
      refuse(t.file, fmt::format("the checkpoint is quantised already{}: tensor {} is {} [{}]. Weights are read in 16 or 32 "
                                 "bits: take the checkpoint that this one was made of, and base = \"nf4\" beside an adapter to "
                                 "store it in 4 bits",
                                 method_in(config), t.name, to_string(t.tensor.type), fmt::join(t.tensor.shape, ", ")));
}

}  // namespace hydra
