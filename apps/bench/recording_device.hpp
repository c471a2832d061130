#pragma once
// A virtual device that records what its closures allocate and free.

#include "runtime/device/cpu/cpu_device.hpp"
#include "runtime/device/cpu/tensor_pool.hpp"
#include "runtime/device/device.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace hydra::apps {

/// In the order of the calls. Thread-safe.
class allocation_trace {
 public:
  struct event {
    std::uint64_t block = 0;   ///< allocated by the event with this number
    byte_count bytes;          ///< 0: the block is freed
    queue_kind queue = queue_kind::compute;
  };
  void allocated(const void* p, byte_count n);
  void freed(const void* p);
  std::vector<event> events() const;

  /// The queue whose closure the calling thread runs; nothing on other threads.
  static void run_on(queue_kind queue) noexcept;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<const void*, std::uint64_t> blocks_;
  std::vector<event> events_;
};

/// As make_cpu_device, but tensors of a run's closures are recorded in the trace instead of charged to the budget.
std::unique_ptr<device> make_recording_device(std::string name, const cpu_device& options,
                                              std::shared_ptr<allocation_trace> trace);

}  // namespace hydra::apps
