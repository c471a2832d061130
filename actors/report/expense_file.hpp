#pragma once
// expenses.json in the folder of a run: what its parts have taken, so that a run that is resumed counts them, too, also
// one that was killed.

#include "actors/protocol/expense.hpp"

#include <filesystem>
#include <map>
#include <string>

namespace hydra {

struct shared_expense {
  expense all{};
  std::map<std::string, expense> models{};  ///< by name

  expense of(const std::string& model) const;
};

/// Model by model.
shared_expense operator+(const shared_expense& a, const shared_expense& b);

/// For one thread at a time.
class expense_file {
 public:
  /// Reads what the parts before have taken, if the run goes on; nothing if there is no such file. Throws
  /// fault_error{io}, {bad_input} if it is damaged.
  expense_file(const std::filesystem::path& folder, bool goes_on);

  const shared_expense& before() const noexcept { return before_; }
  /// What this part has taken so far. If it cannot be written, note() says so.
  void write(const shared_expense& now) noexcept;
  /// For the user; may be empty.
  const std::string& note() const noexcept { return note_; }

 private:
  std::filesystem::path file_;
  shared_expense before_{};
  std::string note_{};
};

}  // namespace hydra
