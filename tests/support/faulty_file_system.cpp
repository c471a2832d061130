#include "tests/support/faulty_file_system.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace hydra::test {

namespace {

constexpr std::array names{"create",      "write",     "flush",       "sync",  "close",
                           "make folder", "rename to", "sync folder", "remove"};

class faulty_file final : public writable_file {
 public:
  faulty_file(faulty_file_system& files, const std::filesystem::path& path)
      : files_{files}, file_{posix_file_system().create(path)}, path_{path} {}

  std::size_t write(std::span<const std::byte> bytes) override {
    files_.begin(file_operation::write, path_);
    return file_->write(files_.short_writes() ? bytes.first((bytes.size() + 1) / 2) : bytes);
  }
  void flush() override {
    files_.begin(file_operation::flush, path_);
    file_->flush();
  }
  void sync() override {
    files_.begin(file_operation::sync, path_);
    file_->sync();
  }
  void close() override {
    files_.begin(file_operation::close, path_);
    file_->close();
  }

 private:
  faulty_file_system& files_;
  std::unique_ptr<writable_file> file_;
  std::filesystem::path path_;
};

}  // namespace

std::unique_ptr<writable_file> faulty_file_system::create(const std::filesystem::path& file) {
  begin(file_operation::create, file);
  return std::make_unique<faulty_file>(*this, file);
}

void faulty_file_system::make_folder(const std::filesystem::path& folder) {
  begin(file_operation::make_folder, folder);
  posix_file_system().make_folder(folder);
}

void faulty_file_system::rename(const std::filesystem::path& from, const std::filesystem::path& to) {
  begin(file_operation::rename, to);
  posix_file_system().rename(from, to);
}

void faulty_file_system::sync_folder(const std::filesystem::path& folder) {
  begin(file_operation::sync_folder, folder);
  posix_file_system().sync_folder(folder);
}

void faulty_file_system::remove_all(const std::filesystem::path& path) {
  begin(file_operation::remove, path);
  posix_file_system().remove_all(path);
}

void faulty_file_system::begin(file_operation operation, const std::filesystem::path& path) {
  const std::string name = names.at(static_cast<std::size_t>(operation));
  transcript_.push_back(name + " " + path.filename().string());
  if (faults_.kind && *faults_.kind != operation) return;
  const int number = seen_++;
  if (number < faults_.first || number > faults_.last) return;
  hit_ = true;
  throw file_error(name, path, faults_.error);
}

}  // namespace hydra::test
