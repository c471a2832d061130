#include "models/data/mapped_file.hpp"

#include "runtime/fault.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fmt/format.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace hydra {
namespace {

/// Size of a file that can be mapped.
std::size_t checked_size(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::none)
    throw fault_error{fault_code::bad_input, fmt::format("{} cannot be read: {}", path.string(), error.message())};
  if (!std::filesystem::exists(status))
    throw fault_error{fault_code::bad_input, fmt::format("{} does not exist", path.string())};
  if (!std::filesystem::is_regular_file(status))
    throw fault_error{fault_code::bad_input, fmt::format("{} is not a file", path.string())};
  const auto size = std::filesystem::file_size(path, error);
  if (error) throw fault_error{fault_code::io, fmt::format("{}: {}", path.string(), error.message())};
  if (size == 0) throw fault_error{fault_code::bad_input, fmt::format("{} is empty", path.string())};
  return static_cast<std::size_t>(size);
}

[[noreturn]] void refuse(const std::filesystem::path& path, int error) {
  throw fault_error{fault_code::io, fmt::format("{} cannot be read: {}", path.string(), std::strerror(error))};
}

}  // namespace

mapped_file::mapped_file(const std::filesystem::path& path) {
  const std::size_t size = checked_size(path);
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) refuse(path, errno);
  void* const start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  const int error = errno;
  ::close(file);  // the mapping stays
  if (start == MAP_FAILED) refuse(path, error);
  bytes_ = {static_cast<const std::byte*>(start), size};
}

void mapped_file::release(std::span<const std::byte> part) noexcept {
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto start = reinterpret_cast<std::uintptr_t>(part.data());
  const std::uintptr_t first = (start + page - 1) / page * page, last = (start + part.size()) / page * page;
  if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

mapped_file::~mapped_file() { ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size()); }

}  // namespace hydra
