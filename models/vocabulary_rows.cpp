#include "models/vocabulary_rows.hpp"

#include <algorithm>
#include <array>

namespace hydra {
namespace {

constexpr std::array<std::string_view, 6> grown_with_tokens{
    "wte.weight",     "model.embed_tokens.weight",      "bert.embeddings.word_embeddings.weight",
    "lm_head.weight", "cls.predictions.decoder.weight", "cls.predictions.bias"};

}  // namespace

bool has_row_per_token(std::string_view parameter) noexcept {
  return std::ranges::find(grown_with_tokens, parameter) != grown_with_tokens.end();
}

}  // namespace hydra
