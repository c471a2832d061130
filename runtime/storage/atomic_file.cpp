#include "runtime/storage/atomic_file.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/storage/leftovers.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <system_error>

namespace hydra {

namespace {

/// Removes the temporary file unless it has been renamed.
struct temporary_file {
  std::filesystem::path path;

  ~temporary_file() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
};

[[noreturn]] void refuse_write_of(const std::filesystem::path& file, const std::string& why) {
  throw fault_error{fault_code::io, fmt::format("cannot write {}: {}", file.string(), why)};
}

void write(const std::filesystem::path& to, const std::filesystem::path& named,
           const std::function<void(std::ostream&)>& content) {
  std::ofstream out{to, std::ios::binary};
  if (out) content(out);
  out.close();
  if (!out) refuse_write_of(named, std::generic_category().message(errno));
}

/// Waits until the content of the path is on the disk.
void sync(const std::filesystem::path& path, int flags, const std::filesystem::path& named) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags);
  const int status = descriptor < 0 ? -1 : ::fsync(descriptor);
  const int error = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (status < 0) refuse_write_of(named, std::generic_category().message(error));
}

}  // namespace

void write_atomically(const std::filesystem::path& file, const std::function<void(std::ostream&)>& content) {
  const temporary_file temporary{temporary_path(file, getpid())};
  write(temporary.path, file, content);
  sync(temporary.path, 0, file);
  std::error_code error;
  std::filesystem::rename(temporary.path, file, error);
  if (error) refuse_write_of(file, error.message());
  const auto folder = file.parent_path();
  sync(folder.empty() ? "." : folder, O_DIRECTORY, file);
}

void write_atomically(const std::filesystem::path& file, std::string_view content) {
  write_atomically(file, [content](std::ostream& out) { out << content; });
}

}  // namespace hydra
