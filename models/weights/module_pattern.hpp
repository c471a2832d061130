#pragma once
// The regular expressions of an adapter_config.json, over names of modules.

#include <memory>
#include <string>
#include <string_view>

namespace hydra {

/// One of Python's re, run by PCRE2. Thread-safe because const.
class module_pattern {
 public:
  /// Throws fault_error{bad_input} "the pattern P: why".
  explicit module_pattern(const std::string& pattern);

  /// Whether the whole name matches, as re.fullmatch decides it. Throws fault_error{bad_input} if that takes too many
  /// steps.
  bool matches(std::string_view name) const;

 private:
  struct compiled;
  std::shared_ptr<const compiled> compiled_;
};

}  // namespace hydra
