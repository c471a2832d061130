#pragma once
// Refusals of what a user asked for. Standard library only.

#include "runtime/base/fault.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace hydra {

/// Throws fault_error{bad_input}.
[[noreturn]] inline void refuse(const std::string& text) { throw fault_error{fault_code::bad_input, text}; }

/// Throws fault_error{bad_input} with the text "FILE: WHY".
[[noreturn]] inline void refuse(const std::filesystem::path& file, std::string_view why) {
  throw fault_error{fault_code::bad_input, file.string() + ": " + std::string{why}};
}

}  // namespace hydra
