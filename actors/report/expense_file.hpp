#pragma once
// expenses.json in the folder of a run: what its parts have taken, so that a run that is resumed counts them, too, also
// one that was killed.

#include "actors/report/shared_expense.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace hydra {

/// What the parts of a run have taken so far.
struct recorded_expense {
  shared_expense spent{};
  std::string currency{};  ///< may be empty
};

/// None: there is no such file. Throws fault_error{io}, {bad_input} if it is damaged.
std::optional<recorded_expense> read_expenses(const std::filesystem::path& folder);

/// What a run that begins knows of the parts before.
struct earlier_parts {
  bool resumed = false;     ///< false: there are none, and what is in the folder is of another run
  bool has_states = false;  ///< models continue from what these parts have saved
  std::string currency{};   ///< of the part that begins
};

/// For one thread at a time.
class expense_file {
 public:
  /// Of a run that is resumed it reads what the parts before have taken. If that is lost or damaged, or in another
  /// currency, before() has gaps, and notes() say why; the file is kept then, as expenses.old.json. Of another run in
  /// the same folder the file is removed. Throws fault_error{io}.
  expense_file(const std::filesystem::path& folder, const earlier_parts& parts);

  const shared_expense& before() const noexcept { return before_; }
  /// What this part has taken so far.
  void write(const shared_expense& now) noexcept;
  /// For the user; none before something is written: then nothing costs money or energy.
  std::vector<std::string> notes() const;

 private:
  void take(const recorded_expense& earlier);
  void set_aside(const std::string& why);

  std::filesystem::path file_;
  std::string currency_;
  shared_expense before_{};
  std::string lost_{};       ///< why something is not known of the parts before
  std::string unwritten_{};  ///< why it could not be written
  bool has_written_ = false;
};

}  // namespace hydra
