#include "runtime/storage/unpacked_file.hpp"

#include "runtime/base/refuse.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <system_error>
#include <vector>

namespace hydra {
namespace {

namespace fs = std::filesystem;

constexpr unsigned unpacked_bytes = 1U << 20;

[[noreturn]] void refuse_packed(const fs::path& file, const char* why) {
  refuse(file, fmt::format("the gzip file cannot be unpacked: {}", why));
}

fs::path folder_for(const fs::path& packed) {
  std::error_code error;
  fs::path folder = fs::temp_directory_path(error);
  if (!error) return folder;
  throw fault_error{fault_code::io, fmt::format("{}: there is no folder for temporary files to unpack it to: {}",
                                                packed.string(), error.message())};
}

/// A file without a name: whatever ends this process leaves nothing of it.
class unpacking_file {
 public:
  unpacking_file(const fs::path& packed, std::uint64_t most) : packed_(packed), left_(most) {
    const fs::path folder = folder_for(packed);
    left_ = std::min(left_, free_in(folder) / 2);
    name_ = folder / "hydra-XXXXXX";
    descriptor_ = ::mkstemp(name_.data());
    if (descriptor_ < 0) refuse_write();
    ::unlink(name_.c_str());
  }
  ~unpacking_file() { ::close(descriptor_); }
  unpacking_file(const unpacking_file&) = delete;
  unpacking_file& operator=(const unpacking_file&) = delete;

  void write(std::span<const char> bytes) {
    if (bytes.size() > left_) refuse_size();
    left_ -= bytes.size();
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0) refuse_write();
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }

  int descriptor() const noexcept { return descriptor_; }

 private:
  /// A small file may unpack to a thousand times as much, and what fills that folder stops other programs.
  static std::uint64_t free_in(const fs::path& folder) {
    std::error_code error;
    const fs::space_info space = fs::space(folder, error);
    return error ? std::numeric_limits<std::uint64_t>::max() : space.available;
  }

  [[noreturn]] void refuse_size() const {
    refuse(packed_, fmt::format("it unpacks to more than half of what is free in {}: unpack it where there is more "
                                "space, and name the unpacked file, or name a larger folder by TMPDIR",
                                fs::path{name_}.parent_path().string()));
  }

  [[noreturn]] void refuse_write() const {
    throw fault_error{fault_code::io,
                      fmt::format("{}: unpacking it to {}: {}", packed_.string(), name_, std::strerror(errno))};
  }

  fs::path packed_;
  std::string name_;  ///< that it had; for messages
  std::uint64_t left_;  ///< bytes that may still be written
  int descriptor_ = -1;
};

/// Unpacks the members of a gzip file one after the other.
class gzip_reader {
 public:
  gzip_reader(const fs::path& file, std::span<const std::byte> bytes)
      : file_(file), left_(bytes), out_(unpacked_bytes) {
    if (inflateInit2(&stream_, gzip_window) != Z_OK) refuse_packed(file_, "zlib has no memory");
  }
  ~gzip_reader() { inflateEnd(&stream_); }
  gzip_reader(const gzip_reader&) = delete;
  gzip_reader& operator=(const gzip_reader&) = delete;

  void unpack(unpacking_file& to) {
    do {
      unpack_member(to);
      inflateReset(&stream_);
      skip_zeros();
    } while (!left_.empty());
    if (written_ == 0) refuse_packed(file_, "there is nothing in it");
  }

 private:
  static constexpr int gzip_window = 15 + 16;  // the largest window; no format but gzip

  void unpack_member(unpacking_file& to) {
    for (int status = Z_OK; status != Z_STREAM_END;) {
      status = unpack_piece();
      if (status == Z_BUF_ERROR) refuse_packed(file_, "it ends too early");
      if (status != Z_OK && status != Z_STREAM_END)
        refuse_packed(file_, stream_.msg ? stream_.msg : "it is not a gzip file");
      to.write(std::span{out_}.first(unpacked_bytes - stream_.avail_out));
      written_ += unpacked_bytes - stream_.avail_out;
    }
  }

  int unpack_piece() {
    const std::size_t fed = std::min<std::size_t>(left_.size(), unpacked_bytes);
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(left_.data()));
    stream_.avail_in = static_cast<uInt>(fed);
    stream_.next_out = reinterpret_cast<Bytef*>(out_.data());
    stream_.avail_out = unpacked_bytes;
    const int status = inflate(&stream_, Z_NO_FLUSH);
    left_ = left_.subspan(fed - stream_.avail_in);
    return status;
  }

  /// Some tools fill a file up with zeros.
  void skip_zeros() {
    while (!left_.empty() && left_.front() == std::byte{0}) left_ = left_.subspan(1);
  }

  const fs::path& file_;
  std::span<const std::byte> left_;
  std::vector<char> out_;
  std::size_t written_ = 0;
  z_stream stream_{};
};

}  // namespace

unpacked_file::unpacked_file(const fs::path& path, std::uint64_t most) : file_(path) {
  if (path.extension() != ".gz") return;
  unpacking_file to{path, most};
  gzip_reader{path, file_.bytes()}.unpack(to);
  unpacked_ = std::make_unique<const mapped_file>(path, to.descriptor());
}

}  // namespace hydra
