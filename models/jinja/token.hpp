#pragma once
// The words of a template. Standard library only.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hydra::jinja {

enum class token_kind : std::uint8_t { text, print, end_print, tag, end_tag, name, string, integer, real, sign, end };

struct token {
  token_kind kind = token_kind::end;
  std::string text{};  ///< of a string: what it is, without quotes and escapes
  std::size_t line = 1;
};

/// With trim_blocks and lstrip_blocks, as transformers reads templates. Throws complaint with a line.
std::vector<token> tokens_of(std::string_view source);

}  // namespace hydra::jinja
