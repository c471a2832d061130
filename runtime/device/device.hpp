#pragma once
// The device interface: a processor with its own memory, a byte budget and a full-duplex link.
//
// Implementer's checklist (tests/conformance/device.hpp tests every line):
//  * three queues; operations of one queue run one after the other in the order of submission, queues run concurrently;
//  * an operation runs only when all tickets it names have completed; no thread of the caller waits for that;
//  * an operation whose ticket failed is not run: when all its tickets have completed, it completes with fault
//    dependency_failed, whose text names the failed ticket;
//   * an operation that throws completes with to_fault(exception); the queue continues with the next;
//  * the closure of an operation is destroyed before its completion is posted;
//  * each operation is completed exactly once, in the order of its queue; the sink runs on a thread of the device;
//  * a device with a driver may run a closure, which then only launches work, before that work is done: whatever the
//    closure launches waits on the device for the tickets named, and it completes when the work is done;
//  * tensors that a closure creates with torch_device() are charged to this device until they are freed, by whichever
//    thread; a charge beyond info().memory throws out_of_memory and leaves nothing behind;
//  * the thread that runs computations calls at::get_num_threads() once, then at::set_num_threads(n) with a fixed n (1
//    unless the user chose another): another number of threads may sum in another order and give other bits;
//   * after stop(limit), operations that have not started complete with fault cancelled; it returns true as soon as all
//     that was submitted has completed, false at the limit if something is still running (a computation that hangs);
//  * the destructor waits for the operation that is running on each queue, then joins; no completion after it.

#include "runtime/base/bytes.hpp"
#include "runtime/device/energy_reading.hpp"
#include "runtime/device/page_locker.hpp"
#include "runtime/device/precision.hpp"
#include "runtime/device/ticket.hpp"
#include "runtime/device/work_meter.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace hydra {

enum class queue_kind : std::uint8_t { compute, h2d, d2h };

/// What a device is. `speed` 1 is the reference of all unit times; a device of speed v needs t/v.
struct device_info {
  std::string name;        ///< unique in the run: "cpu:0"
  std::string kind{};      ///< "cpu", "cuda", a plug-in's
  /// identifies what decides times and bits: "NVIDIA H200, tf32"; empty: all devices of the kind are alike
  std::string model{};
  double speed = 1.0;
  byte_count memory;       ///< budget: what may be charged at any moment
  byte_count reserve{};    ///< part of it that blocks cannot use (context, workspaces); 0 on cpu
  byte_rate link{};        ///< in each direction; unlimited if zero
  duration latency{};      ///< per copy
  std::string torch_device = "cpu";  ///< the device on which closures create their tensors
  precision numbers = precision::fp32;  ///< of parameters and activations
  /// of a shard's gradient sums when they are copied to the host; bf16 only with bf16 `numbers`
  precision gradients = precision::fp32;
  /// What blocks may use of its memory.
  byte_count usable() const { return memory > reserve ? memory - reserve : byte_count{}; }
};

/// Identifies an operation in the trace. `name` is the message or phase ("forward", "h2d parameters").
struct operation_label {
  const char* name = "";
  std::string detail;      ///< "gpt-a shard 3 step 7"
};

/// One piece of asynchronous work. Copies name their bytes (the link is charged), computations their estimate
/// (used by simulated devices only; at speed 1).
struct operation {
  std::function<void()> work;
  byte_count bytes;
  duration estimate{};
  operation_label label;
};

/// Counters of the device's allocator.
struct memory_usage {
  byte_count used;
  byte_count peak;
  byte_count budget;
};

class device {
 public:
  virtual ~device() = default;

  virtual const device_info& info() const noexcept = 0;  ///< does not change; called by any thread at any time

  /// Registers the receiver of completions. Called once, before the first submit.
  virtual void on_completion(completion_sink sink) = 0;

  /// Appends to a queue; returns at once. Thread-safe. `after` may name tickets of any queue of this device, in any
  /// state (complete and 0 count as done). Throws fault_error{internal} for a ticket that this device has not issued,
  /// and before on_completion.
  virtual ticket submit(queue_kind queue, operation op, std::span<const ticket> after) = 0;

  virtual memory_usage memory()
      const noexcept = 0;  ///< called by any thread at any time, also while operations charge it

  /// Called in a closure, on its queue's thread. A device without a driver uses the meter of the host.
  virtual std::unique_ptr<work_meter> measure() { return make_host_meter(); }

  /// What it has used; none: that is not measured. Called by any thread at any time.
  virtual std::optional<energy_reading> energy() const { return std::nullopt; }

  /// Null: copies take any host memory. Lives as long as the device.
  virtual page_locker* locker() noexcept { return nullptr; }

  /// Cancels all that has not started and waits, at most `limit` (zero: not at all), for what is running. True: all
  /// that was submitted has completed, and the destructor will not wait. False: something is still running; a caller
  /// that must not wait for it never destroys the device, because its threads still use it. May be called any number of
  /// times, but not from a thread of the device.
  virtual bool stop(duration limit) noexcept = 0;
};

}  // namespace hydra
