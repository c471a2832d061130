#pragma once
// What the families of decoders with rotary positions share: the chain, its options, its windows.

#include "models/chain.hpp"
#include "models/layers/checks.hpp"
#include "models/layers/llama_block.hpp"
#include "models/layers/rms_head.hpp"
#include "models/layers/token_embedding.hpp"
#include "runtime/base/option.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

/// The options of all these families (layers, width, ..., window), then the family's own.
std::vector<option> with_decoder_options(std::vector<option> own);

struct decoder_layers {
  token_embedding_options embedding{};
  std::vector<llama_block_options> blocks{};
  rms_head_options head{};
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

/// Checks the options that all families have, and replaces kv_heads = 0 and head_size = 0 by what they mean. `who` names
/// the family. Throws fault_error{bad_input}.
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

}  // namespace hydra
