#pragma once
// Which names are meant, by patterns over them. Standard library only.

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace hydra {

/// Patterns of the shell (fnmatch: "*" stands for any text, "?" for a character, "[ab]" for one of these); "!" before a
/// pattern excepts what it matches. The last one that matches a name decides: `{"*", "!head.*"}` means all but the
/// head.
class name_patterns {
 public:
  name_patterns() = default;
  explicit name_patterns(std::vector<std::string> patterns) : patterns_(std::move(patterns)) {}

  bool empty() const noexcept { return patterns_.empty(); }
  const std::vector<std::string>& all() const noexcept { return patterns_; }
  bool matches(const std::string& name) const;
  /// Throws fault_error{bad_input} for a pattern that matches none of the names. `key`: where they are written; `of`:
  /// what the names are of, "parameter of the model".
  void check(const std::string& key, const std::string& of, std::span<const std::string> names) const;

 private:
  std::vector<std::string> patterns_;
};

}  // namespace hydra
