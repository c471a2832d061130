#pragma once
// A cache of tokenised texts on the disk: what has been tokenised once is mapped the next time.

#include "models/data/token_list.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

namespace hydra {

/// Receives ids in order, in pieces.
using token_sink = std::function<void(std::span<const std::uint32_t>)>;

/// Tokens that can be computed on demand.
struct token_recipe {
  std::string key;  ///< everything that the tokens depend on: digests of the text and of the tokenizer, options
  std::function<void(const token_sink& sink)> make;
};

/// `$HYDRA_CACHE`, else `$XDG_CACHE_HOME/hydra`, else `~/.cache/hydra`; the tokens are in its folder `tokens`. Empty if
/// none of these variables is set.
std::filesystem::path token_cache_folder();

/// The tokens of a recipe, from the file of its key in `folder`. A file that is missing or damaged is written, in
/// pieces and complete or not at all; if that is impossible the tokens stay in memory. Throws what `make` throws.
///
/// The file: "HYDRATOK", the number of ids (u64), SHA-256 of the key and of the ids (64 hex digits each), the ids; all
/// numbers little-endian, ids u32.
token_list cached_tokens(const token_recipe& recipe, const std::filesystem::path& folder = token_cache_folder());

}  // namespace hydra
