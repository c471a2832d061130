#pragma once
// What the devices and the host of a run cost, as its user has said.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

inline constexpr double seconds_per_hour = 3600;

/// For which time a device is paid.
enum class billing : std::uint8_t {
  run,   ///< while the run lasts
  used,  ///< from its first unit to its last
};

constexpr const char* to_string(billing b) noexcept { return b == billing::used ? "used" : "run"; }
/// None: there is no such billing.
constexpr std::optional<billing> billing_of(std::string_view text) noexcept {
  return text == "run" ? std::optional(billing::run) : text == "used" ? std::optional(billing::used) : std::nullopt;
}

/// In watts, of a device that computes and of one that does not.
struct power_draw {
  double busy = 0;
  double idle = 0;
};

struct expense_terms {
  std::optional<double> price{};  ///< per hour
  billing billed = billing::run;
  std::optional<power_draw> watts{};  ///< counts where energy is not measured
};

/// Of a whole run.
struct run_terms {
  std::vector<expense_terms> devices{};   ///< in their order; those behind the last one have none
  expense_terms host{};                   ///< it is busy all the time
  std::string currency{};                 ///< of prices; may be empty
  std::optional<double> grams_per_kwh{};  ///< of carbon dioxide

  expense_terms of(std::size_t device) const { return device < devices.size() ? devices[device] : expense_terms{}; }
};

}  // namespace hydra
