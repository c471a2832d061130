#pragma once
// Which parameters of a model keep their initial values, by patterns over their names. Standard library only.

#include "runtime/base/name_patterns.hpp"

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace hydra {

/// `{"*", "!head.*"}` freezes all but the head (name_patterns).
class freezing {
 public:
  freezing() = default;
  explicit freezing(std::vector<std::string> patterns) : patterns_(std::move(patterns)) {}

  bool empty() const noexcept { return patterns_.empty(); }
  bool matches(const std::string& name) const { return patterns_.matches(name); }
  /// Throws fault_error{bad_input} for a pattern that matches none of the names, and if none is frozen.
  void check(std::span<const std::string> names) const;

 private:
  name_patterns patterns_;
};

}  // namespace hydra
