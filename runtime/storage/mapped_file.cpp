#include "runtime/storage/mapped_file.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/base/lfs_pointer.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

namespace hydra {
namespace {

/// Checked before opening: opening a pipe would wait for its writer.
void require_file(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::none)
    throw fault_error{fault_code::bad_input, fmt::format("{} cannot be read: {}", path.string(), error.message())};
  if (!std::filesystem::exists(status))
    throw fault_error{fault_code::bad_input, fmt::format("{} does not exist", path.string())};
  if (!std::filesystem::is_regular_file(status))
    throw fault_error{fault_code::bad_input, fmt::format("{} is not a file", path.string())};
}

[[noreturn]] void refuse(const std::filesystem::path& path, int error) {
  throw fault_error{fault_code::io, fmt::format("{} cannot be read: {}", path.string(), std::strerror(error))};
}

/// Closes the descriptor at the end of a scope: the mapping stays valid.
struct open_file {
  int descriptor;
  ~open_file() {
    if (descriptor >= 0) ::close(descriptor);
  }
};

void require_no_pointer(const std::filesystem::path& path, const open_file& file, std::uint64_t size) {
  if (size > longest_lfs_pointer) return;
  std::string content(size, '\0');
  const ssize_t read = ::pread(file.descriptor, content.data(), content.size(), 0);
  if (read == static_cast<ssize_t>(size)) refuse_lfs_pointer(path, content);
}

}  // namespace

mapped_file::state mapped_file::state_of(const struct stat& s) noexcept {
  return {s.st_dev, s.st_ino, static_cast<std::uint64_t>(s.st_size), s.st_mtim.tv_sec, s.st_mtim.tv_nsec};
}

mapped_file::mapped_file(const std::filesystem::path& path) : path_(path) {
  require_file(path);
  const open_file file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  struct stat s {};
  if (file.descriptor < 0 || ::fstat(file.descriptor, &s) != 0) refuse(path, errno);
  opened_ = state_of(s);
  if (opened_.size == 0) throw fault_error{fault_code::bad_input, fmt::format("{} is empty", path.string())};
  require_no_pointer(path, file, opened_.size);
  void* const start = ::mmap(nullptr, opened_.size, PROT_READ, MAP_PRIVATE, file.descriptor, 0);
  if (start == MAP_FAILED) refuse(path, errno);
  bytes_ = {static_cast<const std::byte*>(start), opened_.size};
}

void mapped_file::require_unchanged() const {
  struct stat s {};
  if (::stat(path_.c_str(), &s) != 0) return;
  const state now = state_of(s);
  const bool same_file = now.device == opened_.device && now.inode == opened_.inode;
  if (same_file && now != opened_)
    throw fault_error{fault_code::io, fmt::format("{} has been written to since it was opened; put another file in its place "
                                                  "instead (write a new file, then rename it)",
                                                  path_.string())};
}

void mapped_file::release(std::span<const std::byte> part) noexcept {
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto start = reinterpret_cast<std::uintptr_t>(part.data());
  const std::uintptr_t first = (start + page - 1) / page * page, last = (start + part.size()) / page * page;
  if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

mapped_file::~mapped_file() { ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size()); }

}  // namespace hydra
