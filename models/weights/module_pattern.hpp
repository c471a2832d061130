#pragma once
// The regular expressions of an adapter_config.json, over names of modules.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace hydra {

/// One of Python's re, run by PCRE2. Thread-safe because const.
class module_pattern {
 public:
  /// `place`: file and key that the pattern is from. Throws fault_error{bad_input} "PLACE: the pattern P: why".
  module_pattern(const std::string& pattern, std::string place);

  /// Whether the whole name matches, as re.fullmatch decides it. Throws fault_error{bad_input}, also with the place, if
  /// that takes too many steps.
  bool matches(std::string_view name) const;

  /// What a named group, which the pattern has, holds if the whole name matches: nothing if it took no part. Throws as
  /// matches() does.
  std::optional<std::string> group_in(std::string_view name, const char* group) const;

 private:
  struct compiled;
  std::shared_ptr<const compiled> compiled_;
};

}  // namespace hydra
