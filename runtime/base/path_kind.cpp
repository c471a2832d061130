#include "runtime/base/path_kind.hpp"

#include "runtime/base/fault.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

namespace hydra {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_path(const fs::path& path, std::string_view option, const std::string& why) {
  throw fault_error{fault_code::bad_input,
                    fmt::format("{}{}{}: {}", option, option.empty() ? "" : " ", path.string(), why)};
}

}  // namespace

std::string why_unknown(const fs::path& path) {
  std::error_code error;
  return fs::status(path, error).type() == fs::file_type::none ? error.message() : "";
}

fs::file_type kind_of(const fs::path& path, std::string_view option) {
  std::error_code error;
  const fs::file_type kind = fs::status(path, error).type();
  if (kind == fs::file_type::none) refuse_path(path, option, error.message());
  return kind;
}

std::ifstream open_to_read(const fs::path& file, std::string_view option) {
  const fs::file_type kind = kind_of(file, option);
  if (kind == fs::file_type::not_found) refuse_path(file, option, "no such file");
  if (kind == fs::file_type::directory) refuse_path(file, option, "a folder; a file is expected");
  std::ifstream in{file, std::ios::binary};
  if (!in) refuse_path(file, option, std::generic_category().message(errno));
  return in;
}

}  // namespace hydra
