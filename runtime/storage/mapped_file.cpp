#include "runtime/storage/mapped_file.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/base/lfs_pointer.hpp"
#include "runtime/base/regular_file.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace hydra {
namespace {

[[noreturn]] void refuse_mapping(const std::filesystem::path& path, int error) {
  throw fault_error{fault_code::io, fmt::format("{} cannot be read: {}", path.string(), std::strerror(error))};
}

void require_no_pointer(const std::filesystem::path& path, int descriptor, std::uint64_t size) {
  if (size > longest_lfs_pointer) return;
  std::string content(size, '\0');
  const ssize_t read = ::pread(descriptor, content.data(), size, 0);
  if (read < 0) refuse_mapping(path, errno);
  refuse_lfs_pointer(path, std::string_view{content}.substr(0, static_cast<std::size_t>(read)));
}

}  // namespace

mapped_file::state mapped_file::state_of(const struct stat& s) noexcept {
  return {s.st_dev, s.st_ino, static_cast<std::uint64_t>(s.st_size), s.st_mtim.tv_sec, s.st_mtim.tv_nsec};
}

// the file is closed at the end; the mapping stays valid
mapped_file::mapped_file(const std::filesystem::path& path) : mapped_file(path, regular_file{path}.descriptor()) {}

mapped_file::mapped_file(const std::filesystem::path& path, int descriptor) : path_(path) {
  struct stat s {};
  if (::fstat(descriptor, &s) != 0) refuse_mapping(path, errno);
  opened_ = state_of(s);
  if (opened_.size == 0) throw fault_error{fault_code::bad_input, fmt::format("{} is empty", path.string())};
  require_no_pointer(path, descriptor, opened_.size);
  void* const start = ::mmap(nullptr, opened_.size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (start == MAP_FAILED) refuse_mapping(path, errno);
  bytes_ = {static_cast<const std::byte*>(start), opened_.size};
}

void mapped_file::require_unchanged() const {
  struct stat s {};
  if (::stat(path_.c_str(), &s) != 0) return;
  const state now = state_of(s);
  const bool same_file = now.device == opened_.device && now.inode == opened_.inode;
  if (same_file && now != opened_)
    throw fault_error{fault_code::io,
                      fmt::format("{} has been written to since it was opened; put another file in its place "
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
