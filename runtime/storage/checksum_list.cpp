#include "runtime/storage/checksum_list.hpp"

#include "runtime/base/fault.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hydra {

namespace {

constexpr std::size_t digits = 64;
constexpr std::string_view gap = "  ";

bool needs_escape(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f || c == '/' || c == '\\';
}

bool is_sha256(std::string_view text) noexcept {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

checksum parse_line(std::string_view line, std::size_t number) {
  const std::string_view hash = line.substr(0, digits), rest = line.substr(hash.size());
  const std::string_view file = rest.substr(std::min(gap.size(), rest.size()));
  if (!is_sha256(hash) || !rest.starts_with(gap) || !can_be_listed(file))
    throw fault_error{fault_code::damaged,
                      fmt::format("line {} of {} is not a checksum and file name", number, checksum_file)};
  return {std::string{file}, std::string{hash}};
}

}  // namespace

bool can_be_listed(std::string_view file) noexcept {
  const bool reserved = file.empty() || file == "." || file == ".." || file == "-" || file == checksum_file;
  return !reserved && std::none_of(file.begin(), file.end(), needs_escape);
}

std::string to_text(std::span<const checksum> sums) {
  std::string text;
  for (const checksum& s : sums) text += fmt::format("{}{}{}\n", s.sha256, gap, s.file);
  return text;
}

std::vector<checksum> parse_checksums(std::string_view text) {
  std::vector<checksum> sums;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos)
      throw fault_error{fault_code::damaged, fmt::format("{} ends within line {}", checksum_file, sums.size() + 1)};
    sums.push_back(parse_line(text.substr(0, end), sums.size() + 1));
    text.remove_prefix(end + 1);
  }
  return sums;
}

}  // namespace hydra
