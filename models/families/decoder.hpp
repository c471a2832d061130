#pragma once
// What the families of decoders with rotary positions share: the chain, checks of its options, its windows.

#include "models/chain.hpp"
#include "models/families/catalog.hpp"
#include "models/families/vocabulary.hpp"
#include "models/layers/checks.hpp"
#include "models/layers/head.hpp"
#include "models/layers/llama_block.hpp"
#include "models/layers/token_embedding.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

struct decoder_layers {
  token_embedding_options embedding{};
  std::vector<llama_block_options> blocks{};
  head_options head{};
  bool tied = false;  ///< head and token embedding share their weights
};

/// Layer 0 = token embedding, 1..n = whole blocks, n+1 = final norm and head. Names as Hugging Face's:
/// model.embed_tokens.weight, model.layers.{i}..., model.norm.weight, lm_head.weight.
chain decoder_chain(const std::string& family, const tensor_spec& sample, const decoder_layers& layers);

/// Whether block i attends over a window: there is one, and the block is not one of `full_layers`.
bool is_windowed(std::int64_t i, std::int64_t window, const std::vector<std::int64_t>& full_layers);

/// Throws fault_error{bad_input} unless `full_layers` are different blocks, and none if there is no window.
void require_full_layers(std::string_view who, std::int64_t layers, std::int64_t window,
                         const std::vector<std::int64_t>& full_layers);

/// Checks the options that all families have, and replaces kv_heads = 0 and head_size = 0 by what they mean. `who`
/// names the family. Throws fault_error{bad_input}.
template <class Options>
Options completed(const char* who, Options o) {
  require_positive(fmt::format("{}: layers", who), o.layers);
  require_positive(fmt::format("{}: width", who), o.width);
  require_positive(fmt::format("{}: heads", who), o.heads);
  require_positive(fmt::format("{}: hidden", who), o.hidden);
  require_positive(fmt::format("{}: context", who), o.context);
  if (o.vocabulary != 0) require_positive(fmt::format("{}: vocabulary", who), o.vocabulary);
  if (o.window != 0) require_positive(fmt::format("{}: window", who), o.window);
  if constexpr (requires { o.full_layers; }) require_full_layers(who, o.layers, o.window, o.full_layers);
  if (!(o.eps > 0)) refuse(fmt::format("{}: eps is {}; it must be positive", who, o.eps));
  if (o.kv_heads == 0) o.kv_heads = o.heads;
  if (o.head_size == 0 && o.width % o.heads != 0)
    refuse(fmt::format("{}: {} heads do not divide width {}; give head_size", who, o.heads, o.width));
  if (o.head_size == 0) o.head_size = o.width / o.heads;
  return o;
}

/// The layers of options with a known vocabulary, before what only one family has.
template <class Options>
decoder_layers plain_layers(const Options& o, llama_block_options (*block)(const Options&, std::int64_t)) {
  decoder_layers all{
      .embedding = {.vocabulary = o.vocabulary, .context = o.context, .width = o.width, .padding = o.padding},
      .head = {.vocabulary = o.vocabulary, .width = o.width, .eps = o.eps, .rms = true},
      .tied = o.tied};
  for (std::int64_t i = 0; i < o.layers; ++i) all.blocks.push_back(block(o, i));
  return all;
}

/// A decoder of the family `who`, whose `layers` and `form` its options decide once the vocabulary is known.
template <class Options>
chain_description described_decoder(const char* who, const Options& options, decoder_layers (*layers)(const Options&),
                                    hub_form (*form)(const Options&)) {
  const Options o = completed(who, options);
  Options one = o;  // block: there may be said to be any number of them
  one.layers = 1;
  static_cast<void>(llama_block{layers(one).blocks.front()});  // validates now rather than when the data are known
  return {who, o.context, [=](const data_source& data) {
            const tensor_spec input = causal_samples_of(who, data);
            Options known = o;
            known.vocabulary = vocabulary_for(who, o.vocabulary, data);
            chain result = decoder_chain(who, input, layers(known));
            result.publish_as(form(known));
            result.validate();
            note_tokens_beyond(result, known.vocabulary, data);
            return result;
          }};
}

}  // namespace hydra
