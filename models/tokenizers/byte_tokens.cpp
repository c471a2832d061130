#include "models/tokenizers/byte_tokens.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace hydra {

byte_tokens::byte_tokens(const token_table& tokens) {
  for (unsigned byte = 0; byte < 256; ++byte) ids_.push_back(tokens.find(fmt::format("<0x{:02X}>", byte)));
}

bool byte_tokens::append(std::string_view bytes, std::vector<std::uint32_t>& ids) const {
  const auto id_of = [this](char c) { return ids_[static_cast<unsigned char>(c)]; };
  if (!std::ranges::all_of(bytes, [&](char c) { return id_of(c).has_value(); })) return false;
  for (const char c : bytes) ids.push_back(*id_of(c));
  return true;
}

std::optional<char> byte_of(std::string_view token) noexcept {
  if (token.size() != 6 || !token.starts_with("<0x") || !token.ends_with('>')) return std::nullopt;
  unsigned value = 0;
  const auto [end, error] = std::from_chars(token.data() + 3, token.data() + 5, value, 16);
  return error == std::errc{} && end == token.data() + 5 ? std::optional{static_cast<char>(value)} : std::nullopt;
}

}  // namespace hydra
