#include "models/families/decoder_options.hpp"
#include "models/families/families.hpp"
#include "models/families/llama/llama.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

namespace hydra {

namespace {

void set_scaling(llama_options& o, const std::string& name) {
  using kind = rope_scaling::kind;
  for (const kind how : {kind::none, kind::linear, kind::llama3})
    if (name == to_string(how)) {
      o.scaling.how = how;
      return;
    }
  refuse(fmt::format("llama: rope_scaling is \"{}\"; choose none, linear or llama3", shown(name)));
}

/// An option with its default that is a member of the scaling.
template <class T>
family_option<llama_options> of_scaling(const char* name, T rope_scaling::*member, const char* help) {
  return {name, rope_scaling{}.*member, false, help,
          [member](llama_options& o, const T& value) { o.scaling.*member = value; }};
}

}  // namespace

family llama_family() {
  using o = llama_options;
  return family_of<o>(
      "llama", "Llama, Mistral, Qwen: RMS norms, rotary positions, grouped-query attention, gated MLP; no dropout",
      llama,
      with_decoder_options<o>(
          {full_layers_option<o>("llama: full_layers"),
           {"rope_theta", &o::rope_theta, false, "base of the wavelengths of rotary positions"},
           {"rope_scaling", std::string{"none"}, false, "their stretch for longer texts: none, linear or llama3",
            set_scaling},
           of_scaling("rope_factor", &rope_scaling::factor, "of the stretch"),
           of_scaling("rope_low_frequency_factor", &rope_scaling::low_frequency_factor,
                      "llama3: longer waves than rope_original_context / it stretch"),
           of_scaling("rope_high_frequency_factor", &rope_scaling::high_frequency_factor,
                      "llama3: shorter waves than rope_original_context / it do not"),
           of_scaling("rope_original_context", &rope_scaling::original_context,
                      "llama3: tokens per sample before the stretch"),
           {"eps", &o::eps, false, "of the norms"},
           {"tied", &o::tied, false, "head and token embedding share their weights"},
           {"qkv_bias", &o::qkv_bias, false, "biases of the projections to queries, keys and values"},
           {"output_bias", &o::output_bias, false, "bias of the attention's output projection"},
           {"mlp_bias", &o::mlp_bias, false, "biases of the MLP's projections"},
           {"qk_norm", &o::qk_norm, false, "RMS norms of each head's queries and keys"}}));
}

}  // namespace hydra
