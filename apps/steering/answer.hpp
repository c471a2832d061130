#pragma once
// The commands of docs/control.md: JSON in, JSON out. The socket and the live page share them.

#include "apps/steering/steering.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace hydra::apps {

/// Longest text of a command in bytes; that of `add` holds a whole file.
inline constexpr std::size_t longest_command = std::size_t{1} << 20;

/// A command as it was read, or why it is none.
struct read_command {
  std::string name{};  ///< "clone"; empty if there is an error
  std::string model{};
  std::vector<std::string> changes{};
  std::string workload{};  ///< text of the models to add
  std::string error{};
};

/// `{"command": "clone", "model": "a", "changes": ["steps=20"]}`. Never throws: any bytes are a command or an error.
read_command parse_command(std::string_view text) noexcept;

/// Executes it; what the run refuses becomes {"error": "..."}, and so does an error of parse_command. Never throws.
nlohmann::ordered_json answer(steering& run, const read_command& c) noexcept;

/// {"error": why}
nlohmann::ordered_json error_answer(const std::string& why);

}  // namespace hydra::apps
