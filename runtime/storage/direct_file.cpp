#include "runtime/storage/direct_file.hpp"

#include "runtime/storage/file_system.hpp"
#include "runtime/base/uninterrupted.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace hydra {

namespace {

constexpr std::size_t block = 4096;
constexpr std::size_t capacity = std::size_t{1} << 20;

constexpr std::size_t whole_blocks(std::size_t n) { return (n + block - 1) / block * block; }

int create(const std::filesystem::path& path) {
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  int descriptor = uninterrupted([&] { return ::open(path.c_str(), flags | O_DIRECT, 0666); });
  if (descriptor < 0 && errno == EINVAL) {  // some file systems create the file before they refuse
    ::unlink(path.c_str());
    descriptor = uninterrupted([&] { return ::open(path.c_str(), flags, 0666); });
  }
  if (descriptor < 0) throw file_error("create", path, errno);
  return descriptor;
}

/// Switches to the page cache. False if it is used already.
bool leave_direct_mode(int descriptor) {
  const int flags = ::fcntl(descriptor, F_GETFL);
  return flags >= 0 && (flags & O_DIRECT) != 0 && ::fcntl(descriptor, F_SETFL, flags & ~O_DIRECT) == 0;
}

}  // namespace

direct_file::direct_file(const std::filesystem::path& path) : path_{path}, descriptor_{create(path)} {}

direct_file::~direct_file() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::size_t direct_file::write(std::span<const std::byte> bytes) {
  if (!buffer_) {
    buffer_.reset(static_cast<std::byte*>(std::aligned_alloc(block, capacity)));
    if (!buffer_) throw std::bad_alloc{};
  }
  const auto n = std::min(bytes.size(), capacity - used_);
  std::memcpy(buffer_.get() + used_, bytes.data(), n);
  used_ += n;
  size_ += n;
  if (used_ == capacity) write_out(capacity);
  return n;
}

void direct_file::write_out(std::size_t n) {
  for (std::size_t done = 0; done < n;) {
    const auto k = uninterrupted([&] { return ::write(descriptor_, buffer_.get() + done, n - done); });
    if (k < 0 && errno == EINVAL && leave_direct_mode(descriptor_)) continue;
    if (k < 0) throw file_error("write", path_, errno);
    if (k == 0) throw file_error("write", path_, EIO);  // otherwise the loop would not end
    done += static_cast<std::size_t>(k);
  }
  used_ = 0;
}

void direct_file::flush() {
  if (used_ > 0) {
    const auto padded = whole_blocks(used_);
    std::memset(buffer_.get() + used_, 0, padded - used_);
    write_out(padded);
    if (uninterrupted([&] { return ::ftruncate(descriptor_, static_cast<off_t>(size_)); }) < 0)
      throw file_error("write", path_, errno);
  }
  buffer_.reset();
}

void direct_file::sync() {
  flush();
  if (uninterrupted([&] { return ::fsync(descriptor_); }) < 0) throw file_error("sync", path_, errno);
}

void direct_file::close() {  // not repeated after EINTR: Linux has closed it then
  if (::close(std::exchange(descriptor_, -1)) < 0 && errno != EINTR) throw file_error("close", path_, errno);
}

}  // namespace hydra
