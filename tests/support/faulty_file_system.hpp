#pragma once
// A file system whose operations fail on request.

#include "runtime/storage/file_system.hpp"

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace hydra::test {

enum class file_operation { create, write, flush, sync, close, make_folder, rename, sync_folder, remove };

/// The operations number `first` to `last` (from 0) of `kind`, or of all kinds, fail with `error`, an errno.
struct file_faults {
  std::optional<file_operation> kind = {};
  int first = 0, last = 0;
  int error = 0;

  static constexpr int for_ever = std::numeric_limits<int>::max();
};

/// Forwards all other operations to the machine's file system.
class faulty_file_system final : public file_system {
 public:
  explicit faulty_file_system(file_faults faults = {.first = -1, .last = -1}, bool short_writes = false)
      : faults_{faults}, short_writes_{short_writes} {}

  std::unique_ptr<writable_file> create(const std::filesystem::path& file) override;
  void make_folder(const std::filesystem::path& folder) override;
  void rename(const std::filesystem::path& from, const std::filesystem::path& to) override;
  void sync_folder(const std::filesystem::path& folder) override;
  void remove_all(const std::filesystem::path& path) override;

  /// Whether any operation has failed.
  bool hit() const noexcept { return hit_; }
  /// One entry for each operation that was started, such as "rename to newer".
  const std::vector<std::string>& transcript() const noexcept { return transcript_; }
  /// Writes accept half of the bytes, so the other half must be written again.
  bool short_writes() const noexcept { return short_writes_; }
  /// Records an operation; throws if it is to fail.
  void begin(file_operation operation, const std::filesystem::path& path);

 private:
  file_faults faults_;
  bool short_writes_;
  int seen_ = 0;
  bool hit_ = false;
  std::vector<std::string> transcript_;
};

}  // namespace hydra::test
