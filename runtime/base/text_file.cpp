#include "runtime/base/text_file.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/base/lfs_pointer.hpp"
#include "runtime/base/path_kind.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <system_error>

namespace hydra {

namespace {

namespace fs = std::filesystem;

void require_text_file(const fs::path& file) {
  if (kind_of(file) == fs::file_type::not_found) refuse(file, "no such file");
  std::error_code error;
  if (!fs::is_regular_file(file, error) && !fs::is_directory(file, error)) refuse(file, "is no regular file");
  const auto size = fs::file_size(file, error);
  if (!error && size > largest_text) refuse(file, fmt::format("has {} bytes; at most {} are read", size, largest_text));
}

}  // namespace

std::string read_text(const fs::path& file) {
  require_text_file(file);
  std::ifstream in = open_to_read(file);
  std::string text;
  char piece[1 << 16];
  while (in && text.size() <= largest_text) {
    in.read(piece, sizeof piece);
    text.append(piece, static_cast<std::size_t>(in.gcount()));
  }
  if (!in.eof())
    throw fault_error{fault_code::io, fmt::format("{}: cannot be read: {}", file.string(), std::generic_category().message(errno))};
  refuse_lfs_pointer(file, text);
  return text;
}

}  // namespace hydra
