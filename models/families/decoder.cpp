#include "models/families/decoder.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace hydra {

chain decoder_chain(const std::string& family, const tensor_spec& sample, const decoder_layers& layers) {
  chain result{family, sample, cross_entropy()};
  result.add("model.", std::make_shared<token_embedding>(layers.embedding));
  for (std::size_t i = 0; i < layers.blocks.size(); ++i)
    result.add(fmt::format("model.layers.{}.", i), std::make_shared<llama_block>(layers.blocks[i]));
  head_options last = layers.head;
  if (layers.tied) last.tied_to = "model.embed_tokens.weight";
  result.add("", std::make_shared<head>(last));
  return result;
}

bool is_windowed(std::int64_t i, std::int64_t window, const std::vector<std::int64_t>& full_layers) {
  return window > 0 && std::ranges::find(full_layers, i) == full_layers.end();
}

void require_full_layers(std::string_view who, std::int64_t layers, std::int64_t window,
                         const std::vector<std::int64_t>& full_layers) {
  if (window == 0 && !full_layers.empty())
    refuse(fmt::format("{}: full_layers says which blocks have no window, but window is 0; give window", who));
  const std::set<std::int64_t> different(full_layers.begin(), full_layers.end());
  if (different.size() != full_layers.size())
    refuse(fmt::format("{}: full_layers is {}; each block can be there once", who, fmt::join(full_layers, ",")));
  for (const std::int64_t i : full_layers)
    if (i < 0 || i >= layers) refuse(fmt::format("{}: full_layers has {}; the blocks are 0 to {}", who, i, layers - 1));
}

}  // namespace hydra
