#include "runtime/file_system.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

namespace hydra {

namespace {

/// Calls again what a signal has interrupted.
template <class Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

class posix_file final : public writable_file {
 public:
  posix_file(int descriptor, std::filesystem::path path) : descriptor_{descriptor}, path_{std::move(path)} {}
  ~posix_file() override {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  posix_file(const posix_file&) = delete;
  posix_file& operator=(const posix_file&) = delete;

  std::size_t write(std::span<const std::byte> bytes) override {
    const ssize_t n = uninterrupted([&] { return ::write(descriptor_, bytes.data(), bytes.size()); });
    if (n < 0) throw file_error("write", path_, errno);
    if (n == 0 && !bytes.empty()) throw file_error("write", path_, EIO);  // else a caller's loop would not end
    return static_cast<std::size_t>(n);
  }

  void sync() override {
    if (uninterrupted([&] { return ::fsync(descriptor_); }) < 0) throw file_error("sync", path_, errno);
  }

  void close() override {  // not again after EINTR: Linux has closed it then
    if (::close(std::exchange(descriptor_, -1)) < 0 && errno != EINTR) throw file_error("close", path_, errno);
  }

 private:
  int descriptor_;
  std::filesystem::path path_;
};

class posix_files final : public file_system {
 public:
  std::unique_ptr<writable_file> create(const std::filesystem::path& file) override {
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
    const int descriptor = uninterrupted([&] { return ::open(file.c_str(), flags, 0666); });
    if (descriptor < 0) throw file_error("create", file, errno);
    return std::make_unique<posix_file>(descriptor, file);
  }

  void make_folder(const std::filesystem::path& folder) override {
    if (::mkdir(folder.c_str(), 0777) < 0) throw file_error("make folder", folder, errno);
  }

  void rename(const std::filesystem::path& from, const std::filesystem::path& to) override {
    if (::rename(from.c_str(), to.c_str()) < 0) throw file_error("rename to", to, errno);
  }

  void sync_folder(const std::filesystem::path& folder) override {
    const int descriptor = uninterrupted([&] { return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
    if (descriptor < 0) throw file_error("open folder", folder, errno);
    const int status = uninterrupted([&] { return ::fsync(descriptor); });
    const int error = errno;
    ::close(descriptor);
    if (status < 0) throw file_error("sync folder", folder, error);
  }

  void remove_all(const std::filesystem::path& path) override {
    std::error_code error;
    std::filesystem::remove_all(path, error);
    if (error) throw file_error("remove", path, error.value());
  }
};

}  // namespace

file_system& posix_file_system() noexcept {
  static posix_files files;
  return files;
}

void make_folders(file_system& files, const std::filesystem::path& folder) {
  std::error_code unknown;  // make_folder() says what is wrong
  if (folder.empty() || std::filesystem::is_directory(folder, unknown)) return;
  const auto parent = folder.parent_path();
  make_folders(files, parent);
  if (!folder.has_filename()) return;  // the parent of "a/b/" is "a/b"
  files.make_folder(folder);
  files.sync_folder(parent.empty() ? "." : parent);
}

fault_error file_error(std::string_view operation, const std::filesystem::path& path, int error) {
  return {fault_code::io, fmt::format("{} {}: {}", operation, path.string(), std::generic_category().message(error))};
}

}  // namespace hydra
