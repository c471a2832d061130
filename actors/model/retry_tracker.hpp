#pragma once
// How often a unit may be retried, and on which devices not. Pure.

#include "runtime/base/fault.hpp"
#include "runtime/base/unit.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace hydra {

/// True if an operation of the unit has thrown: its device may be broken, or the model.
inline bool has_thrown(fault_code why) { return why == fault_code::internal || why == fault_code::io; }

/// Losses that are not the unit's fault do not count; running out of memory is retried once (the device has emptied its
/// cache); a unit that has thrown is retried twice, on devices where it has not, if there are any; everything else
/// would fail again.
class retry_tracker {
 public:
  bool may_retry(const unit& u, device_id device, fault_code why) {
    forget_before(u.step);
    switch (why) {
      case fault_code::device_lost:
      case fault_code::dependency_failed:
      case fault_code::cancelled:
        return true;
      case fault_code::out_of_memory:
        return count(u, why) <= 1;
      case fault_code::refused:  // a block was dropped in a race with a loss; never seen twice in a row
        return count(u, why) <= 3;
      case fault_code::internal:
      case fault_code::io:
        std::erase(thrown_on_[visit(u)], device);
        thrown_on_[visit(u)].push_back(device);
        return count(u, fault_code::internal) <= most_throws;
      default:
        return false;
    }
  }

  /// The devices where an operation of the unit has thrown, the last one last.
  std::vector<device_id> avoid(const unit& u) const {
    const auto found = thrown_on_.find(visit(u));
    return found == thrown_on_.end() ? std::vector<device_id>{} : found->second;
  }

  std::size_t size() const noexcept { return counts_.size() + thrown_on_.size(); }

  /// How often it has failed in this way.
  std::uint32_t failures(const unit& u, fault_code why) const {
    const auto found = counts_.find({visit(u), has_thrown(why) ? fault_code::internal : why});
    return found == counts_.end() ? 0 : found->second;
  }

 private:
  static constexpr std::uint32_t most_throws = 2;

  static unit visit(unit u) {
    u.attempt = 0;
    return u;
  }

  /// A unit of a step exists only after the last one of the step before was announced.
  void forget_before(step_index step) {
    const auto over = [&](const unit& u) { return u.step.value + 1 < step.value; };
    std::erase_if(counts_, [&](const auto& entry) { return over(entry.first.first); });
    std::erase_if(thrown_on_, [&](const auto& entry) { return over(entry.first); });
  }

  std::uint32_t count(const unit& u, fault_code why) { return ++counts_[{visit(u), why}]; }

  std::map<std::pair<unit, fault_code>, std::uint32_t> counts_;
  std::map<unit, std::vector<device_id>> thrown_on_;
};

}  // namespace hydra
