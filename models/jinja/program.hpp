#pragma once
// A template that is read once and rendered often.

#include "models/jinja/nodes.hpp"
#include "models/jinja/value.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hydra::jinja {

/// Bytes of a text.
struct text_range {
  std::size_t begin = 0, end = 0;
  friend bool operator==(const text_range&, const text_range&) = default;
};

struct rendering {
  std::string text{};
  std::vector<text_range> generated{};  ///< what {% generation %} has written
};

/// Thread-safe because const.
class program {
 public:
  /// `name`: of the file, for messages. Throws fault_error{bad_input} "NAME: line N: WHY" for what is not Jinja or not
  /// in the subset (README.md).
  program(std::string name, std::string_view source);

  /// Throws the same for what a conversation makes the template do: an exception of its own, a value that is not
  /// defined, more steps or memory than the limits (budget.hpp).
  rendering render(const value_map& given) const;

  bool marks_generation() const { return marks_; }

 private:
  std::string name_;
  std::shared_ptr<const block> tree_;
  bool marks_ = false;
};

}  // namespace hydra::jinja
