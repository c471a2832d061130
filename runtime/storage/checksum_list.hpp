#pragma once
// The list of a folder's files with their SHA-256, in the format of sha256sum: `sha256sum -c SHA256SUMS` checks it.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

/// The list's own name in the folder.
inline constexpr const char* checksum_file = "SHA256SUMS";

/// One file of the folder.
struct checksum {
  std::string file;    ///< can_be_listed()
  std::string sha256;  ///< 64 hex digits, lower case

  friend bool operator==(const checksum&, const checksum&) = default;
};

/// A plain file name that needs no escapes in the list: no slash, backslash or control character; not "", ".", "..",
/// "-" (standard input for sha256sum) or the list's own name.
bool can_be_listed(std::string_view file) noexcept;

/// "<64 hex digits>  <name>\n" for each.
std::string to_text(std::span<const checksum> sums);

/// The inverse of to_text(). Throws fault_error{damaged} with the number of the first line that is not in this format.
std::vector<checksum> parse_checksums(std::string_view text);

}  // namespace hydra
