#include "models/weights/quantised_weights.hpp"

#include "models/frozen/nf4.hpp"
#include "runtime/base/counted.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <set>

namespace hydra {
namespace {

/// Suffixes of names: of a Linear's own weight; as GPTQ and AWQ, compressed-tensors, HQQ, quanto and torchao store it.
constexpr std::array<std::string_view, 6> weight_suffixes{"weight", "qweight",      "weight_packed",
                                                          "W_q",    "weight._data", "qdata"};
constexpr std::array quantised_types{stored_type::u8,  stored_type::i8,  stored_type::i16,     stored_type::i32,
                                     stored_type::u16, stored_type::u32, stored_type::f8_e4m3, stored_type::f8_e5m2};

bool is_quantised(const hub_tensor& t) {
  return !t.four_bits && std::ranges::find(quantised_types, t.tensor.type) != quantised_types.end() &&
         std::ranges::any_of(weight_suffixes, [&](std::string_view suffix) { return t.name.ends_with(suffix); });
}

/// Whether base = "nf4" has the same codes and scales.
bool is_own_nf4(const four_bit_values& values) {
  return values.type == four_bit_type::nf4 && values.block == nf4_block;
}

/// " (quant_method = \"gptq\")"; empty if config.json does not say it.
std::string method_in(const model_config& config) {
  const auto how = config.content().find("quantization_config");
  if (how == config.content().end() || !how->is_object() || !how->contains("quant_method")) return {};
  return fmt::format(" (quant_method = {})", shown_json((*how)["quant_method"]));
}

}  // namespace

std::string four_bit_note(const hub_tensors& tensors) {
  std::set<std::string_view> types;
  std::size_t weights = 0, kept = 0;
  for (const auto& [name, t] : tensors.all()) {
    if (!t.four_bits) continue;
    types.insert(to_string(t.four_bits->type));
    ++weights;
    kept += is_own_nf4(*t.four_bits) ? 1 : 0;
  }
  if (weights == 0) return {};
  return fmt::format(
      "{}: {} in 4 bits ({} of bitsandbytes), read as the values that the codes stand for; base = \"nf4\" "
      "stores what is frozen in 4 bits again{}",
      tensors.folder().string(), counted(weights, "weight"), fmt::join(types, ", "),
      kept == weights ? "" : ", and rounds what was not nf4 in blocks of 64");
}

void refuse_quantised_weights(const model_config& config, const hub_tensors& tensors) {
  for (const auto& [name, t] : tensors.all())
    if (is_quantised(t))
      refuse(t.file,
             fmt::format("the checkpoint is quantised already{}: tensor {} is {} [{}]. Weights are read in 16 or 32 "
                         "bits, and in 4 as transformers saves those of bitsandbytes, with .absmax, .quant_map and "
                         ".quant_state: take the checkpoint that this one was made of, and base = \"nf4\" beside an "
                         "adapter to store it in 4 bits",
                         method_in(config), shown(t.name), to_string(t.tensor.type), fmt::join(t.tensor.shape, ", ")));
}

}  // namespace hydra
