#include "runtime/storage/unpacked_file.hpp"

#include "runtime/base/refuse.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace hydra {
namespace {

namespace fs = std::filesystem;

constexpr unsigned piece = 1U << 20;

[[noreturn]] void refuse_packed(const fs::path& file, const char* why) {
  refuse(file, fmt::format("the gzip file cannot be unpacked: {}", why));
}

/// A file that is removed when this ends; who has mapped it keeps its bytes.
class temporary_file {
 public:
  explicit temporary_file(const fs::path& packed) : packed_(packed), name_(fs::temp_directory_path() / "hydra-XXXXXX") {
    descriptor_ = ::mkstemp(name_.data());
    if (descriptor_ < 0) refuse_write();
  }
  ~temporary_file() {
    ::close(descriptor_);
    ::unlink(name_.c_str());
  }
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;

  void write(std::span<const char> bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0) refuse_write();
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }

  fs::path path() const { return name_; }

 private:
  [[noreturn]] void refuse_write() const {
    throw fault_error{fault_code::io,
                      fmt::format("{}: unpacking it to {}: {}", packed_.string(), name_, std::strerror(errno))};
  }

  fs::path packed_;
  std::string name_;
  int descriptor_ = -1;
};

struct closed {
  void operator()(gzFile file) const { gzclose_r(file); }
};

void unpack(const fs::path& packed, temporary_file& to) {
  const std::unique_ptr<gzFile_s, closed> from{gzopen(packed.c_str(), "rb")};
  if (!from) refuse_packed(packed, std::strerror(errno));
  std::vector<char> bytes(piece);
  bool any = false;
  for (int n = 1; n > 0; any = any || n > 0) {
    n = gzread(from.get(), bytes.data(), piece);
    if (n > 0) to.write(std::span{bytes}.first(static_cast<std::size_t>(n)));
  }
  int error = Z_OK;
  const char* const why = gzerror(from.get(), &error);
  if (error != Z_OK && error != Z_STREAM_END) refuse_packed(packed, why);
  if (gzdirect(from.get()) == 1) refuse_packed(packed, "it is no gzip file");
  if (!any) refuse_packed(packed, "there is nothing in it");
}

}  // namespace

unpacked_file::unpacked_file(const fs::path& path) : file_(path) {
  if (path.extension() != ".gz") return;
  temporary_file to{path};
  unpack(path, to);
  unpacked_ = std::make_unique<const mapped_file>(to.path());
}

}  // namespace hydra
