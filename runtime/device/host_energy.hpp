#pragma once
// The energy of the host's processors and their memory, as the kernel counts it (powercap, "RAPL"): of all that runs on
// the machine. Most systems let only root read it.

#include "runtime/device/energy_reading.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace hydra {

/// Its counters start again at 0 after max_energy_range_uj, some minutes of a processor at work: read() has to be
/// called more often than that. For one thread.
class host_energy {
 public:
  explicit host_energy(const std::filesystem::path& powercap = "/sys/class/powercap");

  /// Since construction, of packages and of memory that is not part of one. None: there are no counters, or one cannot
  /// be read (any more).
  std::optional<energy_reading> read();

 private:
  struct zone {
    std::filesystem::path counter;  ///< of microjoules
    std::uint64_t range = 0;        ///< it counts from 0 to this
    std::uint64_t last = 0;
  };
  static std::optional<zone> zone_in(const std::filesystem::path& folder);

  std::vector<zone> zones_;
  bool readable_ = true;
  double joules_ = 0;
};

}  // namespace hydra
