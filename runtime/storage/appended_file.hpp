#pragma once
// A file to whose end whole entries are appended.

#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include <sys/types.h>

namespace hydra {

/// It has whole entries only, unless a crash cuts the last one: what an entry that failed has left is cut off at once,
/// or, if that fails too, before the next one. It is opened, or created, with the first entry. For one thread, the only
/// writer.
class appended_file {
 public:
  explicit appended_file(std::filesystem::path file) : file_(std::move(file)) {}
  ~appended_file();
  appended_file(const appended_file&) = delete;
  appended_file& operator=(const appended_file&) = delete;

  /// On return the system has the entry. Throws file_error().
  void append(std::string_view entry);
  /// On return the entry survives a crash of the machine. Throws file_error(); then the file does not have it.
  void append_durably(std::string_view entry);

 private:
  void open();
  template <class Action>
  void whole_or_nothing(const Action& action);
  void cut_off();
  void write(std::string_view bytes);
  void sync();

  std::filesystem::path file_;
  int descriptor_ = -1;
  bool name_is_safe_ = false;     ///< its entry in the folder is on the disk
  std::optional<off_t> torn_at_;  ///< its size before an entry that may be there in part
};

}  // namespace hydra
