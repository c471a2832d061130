#pragma once
// The operations that a device needs of a driver with streams and events: one class per driver, none knows queues or
// tickets.

#include "runtime/base/fault.hpp"
#include "runtime/device/device.hpp"

#include <exception>
#include <functional>
#include <memory>
#include <optional>

namespace hydra {

/// A mark in a stream. Destroyed on any thread.
class stream_event {
 public:
  virtual ~stream_event() = default;
};
using stream_event_ptr = std::shared_ptr<const stream_event>;

/// One stream for each queue; work launched on it runs in order. Only drain() and the destructor wait for the device,
/// and a call that does what another one has failed to do. Errors are thrown: fault_error{device_lost} if nothing can
/// run any more. Each queue is used by one thread.
class stream_driver {
 public:
  /// Waits until no notification is outstanding.
  virtual ~stream_driver() = default;

  /// Called by the thread that launches on the queue: its tensors and kernels use this stream until the handle is
  /// destroyed.
  virtual std::shared_ptr<void> serve(queue_kind queue) = 0;

  /// The first work on the compute queue, before the device is used: creates handles and workspaces, loads kernels.
  virtual void prepare() {}

  /// What is launched on the queue from now on waits on the device for the event. A driver that cannot do this at the
  /// moment waits itself.
  virtual void wait(queue_kind queue, const stream_event& event) = 0;
  /// An event for the end of what has been launched on the queue so far. If it throws anything but device_lost, drain()
  /// takes its place.
  virtual stream_event_ptr record(queue_kind queue) = 0;
  /// Calls `then` on a thread of the driver when the event (the queue's last) has happened; perhaps never, if the
  /// device fails. Work launched on the queue later does not wait for the call. `then` must only post: it must not call
  /// the driver. Throws only if nothing can run any more.
  virtual void notify(queue_kind queue, const stream_event& event, std::function<void()> then) = 0;

  /// Returns when all that was launched on the queue is done. Called by the queue's thread when it would otherwise be
  /// out of memory.
  virtual void drain(queue_kind queue) = 0;
  /// The error after which nothing can run on the device any more; none if no such error is known. On any thread.
  virtual fault look() noexcept { return {}; }

  /// What a closure or this driver has thrown, as a fault.
  virtual fault explain(const std::exception_ptr& e) const noexcept { return to_fault(e); }

  /// As device::energy, device::measure, device::locker.
  virtual std::optional<energy_reading> energy() const { return std::nullopt; }
  virtual std::unique_ptr<work_meter> measure() = 0;
  virtual page_locker* locker() noexcept = 0;
};

}  // namespace hydra
