#pragma once
// Which parameters of a model keep their initial values, by patterns over their names. Standard library only.

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace hydra {

/// Patterns of the shell (fnmatch: "*" stands for any text, "?" for a character, "[ab]" for one of these); "!" before a
/// pattern excepts what it matches. The last one that matches a name decides: `{"*", "!head.*"}` freezes all but the
/// head.
class freezing {
 public:
  freezing() = default;
  explicit freezing(std::vector<std::string> patterns) : patterns_(std::move(patterns)) {}

  bool empty() const noexcept { return patterns_.empty(); }
  bool matches(const std::string& name) const;
  /// Throws fault_error{bad_input} for a pattern that matches none of the names, and if none is frozen.
  void check(std::span<const std::string> names) const;

 private:
  std::vector<std::string> patterns_;
};

}  // namespace hydra
