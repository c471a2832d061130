#include "runtime/base/text_file.hpp"

#include "runtime/base/fault.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <system_error>

namespace hydra {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(fault_code code, const fs::path& file, const std::string& why) {
  throw fault_error{code, fmt::format("{}: {}", file.string(), why)};
}

void require_text_file(const fs::path& file) {
  std::error_code error;
  const auto status = fs::status(file, error);
  if (!fs::exists(status)) {
    const bool missing = status.type() == fs::file_type::not_found;
    refuse(missing ? fault_code::bad_input : fault_code::io, file, missing ? "does not exist" : error.message());
  }
  if (fs::is_directory(status)) refuse(fault_code::bad_input, file, "is a folder, not a file");
  if (!fs::is_regular_file(status)) refuse(fault_code::bad_input, file, "is no regular file");
  const auto size = fs::file_size(file, error);
  if (!error && size > largest_text)
    refuse(fault_code::bad_input, file, fmt::format("has {} bytes; at most {} are read", size, largest_text));
}

}  // namespace

std::string read_text(const fs::path& file) {
  require_text_file(file);
  std::ifstream in{file, std::ios::binary};
  std::string text;
  char piece[1 << 16];
  while (in && text.size() <= largest_text) {
    in.read(piece, sizeof piece);
    text.append(piece, static_cast<std::size_t>(in.gcount()));
  }
  if (!in.eof()) refuse(fault_code::io, file, fmt::format("cannot be read: {}", std::generic_category().message(errno)));
  return text;
}

}  // namespace hydra
