#include "runtime/base/regular_file.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/base/path_kind.hpp"
#include "runtime/base/uninterrupted.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace hydra {

namespace {

namespace fs = std::filesystem;

/// What is asked for, for messages.
struct asked_file {
  const fs::path& path;
  std::string_view option;

  [[noreturn]] void refuse(fault_code code, std::string_view why) const {
    throw fault_error{code, fmt::format("{}{}{}: {}", option, option.empty() ? "" : " ", path.string(), why)};
  }

  [[noreturn]] void refuse(int error) const {
    const std::error_code why{error, std::generic_category()};
    const bool absent = error == ENOENT || error == ENOTDIR;
    refuse(error == EACCES || error == EPERM ? fault_code::bad_input : code_of(why),
           absent ? "no such file" : why.message());
  }

  void require_regular(mode_t mode) const {
    if (S_ISREG(mode)) return;
    const char* const what = S_ISDIR(mode)    ? "a folder"
                             : S_ISFIFO(mode) ? "a pipe"
                             : S_ISSOCK(mode) ? "a socket"
                                              : "a device";
    refuse(fault_code::bad_input, fmt::format("{}; a file is expected", what));
  }
};

/// Looks twice: opening a device may do something, and another thing may be in its place by then. What the kernel only
/// presents as regular files (below /proc) may make readers wait, too, unless they say that they do not.
int opened(const asked_file& asked, struct stat& facts) {
  if (::stat(asked.path.c_str(), &facts) != 0) asked.refuse(errno);
  asked.require_regular(facts.st_mode);
  constexpr int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  const int descriptor = uninterrupted([&] { return ::open(asked.path.c_str(), flags); });
  if (descriptor < 0) asked.refuse(errno);
  if (::fstat(descriptor, &facts) != 0 || !S_ISREG(facts.st_mode)) {
    ::close(descriptor);
    asked.refuse(fault_code::io, "is being replaced");
  }
  return descriptor;
}

}  // namespace

regular_file::regular_file(fs::path path, std::string_view option) : path_{std::move(path)} {
  struct stat facts {};
  descriptor_ = opened({path_, option}, facts);
  size_ = static_cast<std::uint64_t>(facts.st_size);
}

regular_file::~regular_file() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

regular_file::regular_file(regular_file&& other) noexcept
    : path_{std::move(other.path_)}, descriptor_{std::exchange(other.descriptor_, -1)}, size_{other.size_} {}

std::size_t regular_file::read(std::span<char> into, std::uint64_t at) const {
  const auto got =
      uninterrupted([&] { return ::pread(descriptor_, into.data(), into.size(), static_cast<off_t>(at)); });
  if (got < 0)
    throw fault_error{fault_code::io,
                      fmt::format("{}: cannot be read: {}", path_.string(), std::generic_category().message(errno))};
  return static_cast<std::size_t>(got);
}

file_stream::file_stream(fs::path path, std::string_view option)
    : std::istream{nullptr}, buffer_{regular_file{std::move(path), option}} {
  rdbuf(&buffer_);
  exceptions(std::ios::badbit);
}

file_stream::buffer::buffer(regular_file file) : file_{std::move(file)}, bytes_(1 << 16) {}

file_stream::buffer::int_type file_stream::buffer::underflow() {
  const std::size_t got = file_.read(bytes_, at_);
  at_ += got;
  setg(bytes_.data(), bytes_.data(), bytes_.data() + got);
  return got == 0 ? traits_type::eof() : traits_type::to_int_type(*gptr());
}

}  // namespace hydra
