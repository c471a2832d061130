#include "models/tokenizers/byte_tokenizer.hpp"

#include "models/tokenizers/unicode.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

namespace hydra {

void byte_tokenizer::encode(std::string_view text, std::vector<std::uint32_t>& ids) const {
  require_utf8(text);
  for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
}

std::string byte_tokenizer::decode(std::span<const std::uint32_t> ids) const {
  std::string text;
  for (const std::uint32_t id : ids) {
    if (id > 255) refuse(fmt::format("token {}: the id {} is not a byte", text.size(), id));
    text += static_cast<char>(id);
  }
  return text;
}

std::optional<std::uint32_t> byte_tokenizer::id_of(std::string_view token) const {
  return token.size() == 1 ? std::optional<std::uint32_t>{static_cast<unsigned char>(token.front())} : std::nullopt;
}

}  // namespace hydra
