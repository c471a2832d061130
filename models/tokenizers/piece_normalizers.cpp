#include "models/tokenizers/piece_normalizers.hpp"

#include "runtime/base/refuse.hpp"
#include "runtime/base/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hydra {

namespace {

constexpr std::size_t longest_grapheme = 5;  // bytes; longer ones are replaced by code points

std::uint32_t little_endian(std::string_view bytes) noexcept {
  std::uint32_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | static_cast<unsigned char>(bytes[static_cast<std::size_t>(i)]);
  return value;
}

// A unit of Darts-clone's double array.
constexpr bool has_leaf(std::uint32_t unit) noexcept { return (unit >> 8 & 1) != 0; }
constexpr std::uint32_t value_of(std::uint32_t unit) noexcept { return unit & 0x7FFFFFFF; }
constexpr std::uint32_t label_of(std::uint32_t unit) noexcept { return unit & 0x800000FF; }
constexpr std::uint32_t offset_of(std::uint32_t unit) noexcept { return unit >> 10 << ((unit & 0x200) >> 6); }

/// Of a malformed table only.
bool starts_inside(std::string_view text) noexcept {
  return !text.empty() && !begins_code_point(text.front());
}

bool stays_alone(std::string_view text, std::size_t at) noexcept {
  const auto ascii = [&](std::size_t i) { return static_cast<unsigned char>(text[i]) < 0x80; };
  return ascii(at) && text[at] != '\r' && (at + 1 == text.size() || ascii(at + 1));
}

}  // namespace

std::optional<std::string> prepend_normalizer::apply(std::string_view text) const {
  if (text.empty()) return std::nullopt;
  return std::string{prefix_}.append(text);
}

std::optional<std::string> strip_normalizer::apply(std::string_view text) const {
  const std::size_t before = text.size();
  while (left_ && !text.empty() && is_white_space(first_code_point(text).value))
    text.remove_prefix(first_code_point(text).length);
  while (right_ && !text.empty() && is_white_space(last_code_point(text).value))
    text.remove_suffix(last_code_point(text).length);
  return text.size() == before ? std::nullopt : std::optional{std::string{text}};
}

precompiled_normalizer::precompiled_normalizer(std::string_view table) {
  const std::size_t size = table.size() < 4 ? 0 : little_endian(table);
  if (size == 0 || size % 4 != 0 || size > table.size() - 4)
    refuse(fmt::format("{} bytes are not a table of replacements whose trie has {} bytes", table.size(), size));
  for (std::size_t at = 4; at < 4 + size; at += 4) trie_.push_back(little_endian(table.substr(at)));
  texts_ = table.substr(4 + size);
  if (const std::string why = utf8_complaint(texts_); !why.empty()) refuse("the table's texts " + why);
  for (std::size_t c = 0; c < ascii_.size(); ++c) {
    const std::string character(1, static_cast<char>(c));
    if (const auto found = entry(character)) ascii_[c] = *found;
  }
}

std::optional<std::string_view> precompiled_normalizer::entry(std::string_view key) const noexcept {
  const auto unit = [this](std::size_t at) { return at < trie_.size() ? trie_[at] : 0; };
  std::size_t at = offset_of(unit(0));
  for (const char c : key) {
    const auto byte = static_cast<unsigned char>(c);
    at ^= byte;
    if (byte == 0 || label_of(unit(at)) != byte) return std::nullopt;
    const bool found = has_leaf(unit(at));
    at ^= offset_of(unit(at));
    if (found) {
      const std::string_view from =
          std::string_view{texts_}.substr(std::min<std::size_t>(value_of(unit(at)), texts_.size()));
      return starts_inside(from) ? std::nullopt : std::optional{from.substr(0, from.find('\0'))};
    }
  }
  return std::nullopt;
}

void precompiled_normalizer::append(std::string& text, std::string_view part) const {
  const auto whole = part.size() <= longest_grapheme ? entry(part) : std::nullopt;
  if (whole) return void(text.append(*whole));
  while (!part.empty()) {
    const std::string_view one = part.substr(0, first_code_point(part).length);
    text.append(entry(one).value_or(one));
    part.remove_prefix(one.size());
  }
}

std::optional<std::string> precompiled_normalizer::apply(std::string_view text) const {
  std::string made;
  made.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    if (stays_alone(text, at)) {
      const auto& known = ascii_[static_cast<unsigned char>(text[at])];
      known ? made += * known : made += text[at];
      ++at;
      continue;
    }
    const std::size_t length = first_grapheme(text.substr(at));
    append(made, text.substr(at, length));
    at += length;
  }
  return made;
}

}  // namespace hydra
