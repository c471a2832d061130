#pragma once
// The energy that the devices and the host of a run have used since its start, as far as it is measured.

#include "runtime/device/energy_reading.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace hydra {

class device;
class host_energy;

/// A meter that fails during the run, as that of a device that is lost, keeps what it had counted.
class energy_meters {
 public:
  /// `host`: null: it has none.
  energy_meters(const std::vector<const device*>& devices, host_energy* host);

  bool any() const;
  void read();
  /// Since construction, up to the last read().
  std::optional<energy_reading> of_device(std::size_t i) const;
  std::optional<energy_reading> of_host() const;

 private:
  struct meter {
    std::optional<energy_reading> first{};
    std::optional<energy_reading> last{};
  };
  static std::optional<energy_reading> since(const meter& m);

  std::vector<const device*> devices_;
  host_energy* host_meter_;
  std::vector<meter> meters_;  ///< of the devices
  meter host_;
};

}  // namespace hydra
