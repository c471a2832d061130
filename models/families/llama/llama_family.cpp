#include "models/families/decoder.hpp"
#include "models/families/families.hpp"
#include "models/families/integer_list.hpp"
#include "models/families/llama/llama.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

namespace hydra {

namespace {

rope_scaling rope_scaling_of(const option_values& o) {
  const auto name = get<std::string>(o, "rope_scaling");
  using kind = rope_scaling::kind;
  for (const kind how : {kind::none, kind::linear, kind::llama3})
    if (name == to_string(how))
      return {.how = how,
              .factor = get<double>(o, "rope_factor"),
              .low_frequency_factor = get<double>(o, "rope_low_frequency_factor"),
              .high_frequency_factor = get<double>(o, "rope_high_frequency_factor"),
              .original_context = get<std::int64_t>(o, "rope_original_context")};
  throw fault_error(fault_code::bad_input,
                    fmt::format("llama: rope_scaling is \"{}\"; choose none, linear or llama3", shown(name)));
}

chain_description llama_of(const option_values& o) {
  auto all = read_decoder_options<llama_options>(o);
  all.full_layers = integers_or_none("llama: full_layers", get<std::string>(o, "full_layers"));
  all.scaling = rope_scaling_of(o);
  all.qkv_bias = get<bool>(o, "qkv_bias");
  all.output_bias = get<bool>(o, "output_bias");
  all.mlp_bias = get<bool>(o, "mlp_bias");
  all.qk_norm = get<bool>(o, "qk_norm");
  return llama(all);
}

}  // namespace

family llama_family() {
  const llama_options standard;
  return {"llama", "Llama, Mistral, Qwen: RMS norms, rotary positions, grouped-query attention, gated MLP; no dropout",
          with_decoder_options(
              {{"full_layers", std::string{"none"}, false, "blocks without the window, from 0, such as 5,11"},
               {"rope_theta", standard.rope_theta, false, "base of the wavelengths of rotary positions"},
               {"rope_scaling", std::string{"none"}, false, "their stretch for longer texts: none, linear or llama3"},
               {"rope_factor", standard.scaling.factor, false, "of the stretch"},
               {"rope_low_frequency_factor", standard.scaling.low_frequency_factor, false,
                "llama3: longer waves than rope_original_context / it stretch"},
               {"rope_high_frequency_factor", standard.scaling.high_frequency_factor, false,
                "llama3: shorter waves than rope_original_context / it do not"},
               {"rope_original_context", standard.scaling.original_context, false,
                "llama3: tokens per sample before the stretch"},
               {"eps", standard.eps, false, "of the norms"},
               {"tied", standard.tied, false, "head and token embedding share their weights"},
               {"qkv_bias", standard.qkv_bias, false, "biases of the projections to queries, keys and values"},
               {"output_bias", standard.output_bias, false, "bias of the attention's output projection"},
               {"mlp_bias", standard.mlp_bias, false, "biases of the MLP's projections"},
               {"qk_norm", standard.qk_norm, false, "RMS norms of each head's queries and keys"}}),
          llama_of};
}

}  // namespace hydra
