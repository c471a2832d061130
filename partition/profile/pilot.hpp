#pragma once
// The pilot pass on the devices of a run (the paper's, section 2.2).

#include "models/chain.hpp"
#include "partition/profile/profile.hpp"
#include "partition/profile/update_cost.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/device/device.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hydra {

/// All devices of a pilot have failed; the fault of the first one.
class measuring_error final : public fault_error {
 public:
  using fault_error::fault_error;
};

/// Measurements run on the queues of all devices at the same time, as in the run: with their intra-op threads, and
/// with contention if several are threads of one machine. A device that fails is left out unless all fail. Times and
/// bytes are those of the device's work_meter: without the sleep that emulates `speed`, and not charged to the device,
/// so that the message for a budget that is too small can name a sufficient one. Copies use the same memory as the run:
/// locked if the device has a locker. They are large, so that the fixed cost of a copy is negligible.
class pilot {
 public:
  /// Becomes the receiver of the devices' completions: they cannot be used for a run afterwards. `limit`: of one
  /// measurement; a device that takes longer is excluded permanently; zero: no limit.
  pilot(std::span<device* const> devices, duration limit);

  /// Throws fault_error{bad_input} for a layer or a loss that breaks its contract (contract.hpp), before anything is
  /// measured. `step.progress` is called on a thread of the first device.
  chain_profile measure(const std::shared_ptr<const chain>& model, const profiled_step& step);

  /// Of the slowest device, at speed 1.
  element_rate update_rate(const update_options& rule, precision numbers);

  /// Rate of copies each way, per device: its link's, or measured where the link is not limited.
  std::vector<byte_rate> link_rates();

  /// What times depend on besides the model: kinds and models of devices with their threads, versions of Hydra and
  /// LibTorch.
  std::string setting();

 private:
  class round;
  struct probe_buffer;
  template <class Result>
  std::vector<Result> results_of(const std::function<Result(device&)>& work);
  using closure = std::function<void()>;
  using copy_maker = closure (*)(const probe_buffer& c);
  std::vector<std::shared_ptr<probe_buffer>> probe_buffers();
  std::vector<std::optional<duration>> copies(queue_kind queue,
                                              const std::vector<std::shared_ptr<probe_buffer>>& buffers,
                                              copy_maker make);
  std::vector<completion> everywhere(queue_kind queue, const std::function<closure(std::size_t)>& work_of);

  std::span<device* const> devices_;
  duration limit_;
  std::shared_ptr<round> round_;
};

/// Everything of a chain that its costs depend on, as text; equal neighbours are counted.
std::string fingerprint(const chain& model, const tensor_spec& sample_target, std::int64_t samples);

}  // namespace hydra
