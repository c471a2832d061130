#include "runtime/storage/file_system.hpp"

#include "runtime/storage/direct_file.hpp"
#include "runtime/base/uninterrupted.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

namespace hydra {

namespace {

class posix_files final : public file_system {
 public:
  std::unique_ptr<writable_file> create(const std::filesystem::path& file) override {
    return std::make_unique<direct_file>(file);
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
  std::error_code unknown;  // make_folder() reports what is wrong
  if (folder.empty() || std::filesystem::is_directory(folder, unknown)) return;
  const auto parent = folder.parent_path();
  make_folders(files, parent);
  if (!folder.has_filename()) return;  // the parent of "a/b/" is "a/b"
  try {
    files.make_folder(folder);
  } catch (const fault_error&) {
    if (!std::filesystem::is_directory(folder, unknown)) throw;  // else another thread or process has made it meanwhile
  }
  files.sync_folder(parent.empty() ? "." : parent);
}

fault_error file_error(std::string_view operation, const std::filesystem::path& path, int error) {
  return {fault_code::io, fmt::format("{} {}: {}", operation, path.string(), std::generic_category().message(error))};
}

}  // namespace hydra
