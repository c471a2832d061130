#pragma once
// How often a unit may be tried again. Pure.

#include "runtime/fault.hpp"
#include "runtime/unit.hpp"

#include <cstdint>
#include <map>
#include <utility>

namespace hydra {

/// Losses that are not the unit's fault are free; running out of memory is tried once more (the device has emptied its
/// cache); everything else would fail again.
class retry_book {
 public:
  bool may_retry(const unit& u, fault_code why) {
    switch (why) {
      case fault_code::device_lost:
      case fault_code::dependency_failed:
      case fault_code::cancelled:
        return true;
      case fault_code::out_of_memory:
        return count(u) <= 1;
      case fault_code::refused:  // home lost a block to a race with a loss; never seen twice in a row
        return count(u) <= 3;
      default:
        return false;
    }
  }

 private:
  std::uint32_t count(unit u) {
    u.attempt = 0;
    return ++counts_[u];
  }

  std::map<unit, std::uint32_t> counts_;
};

}  // namespace hydra
