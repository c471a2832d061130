#pragma once
// What a device needs of a driver that has streams and events: a class for each driver, none of it knows queues or tickets.

#include "runtime/device/device.hpp"
#include "runtime/base/fault.hpp"

#include <functional>
#include <memory>

namespace hydra {

/// A mark in a stream. Destroyed on any thread.
class stream_event {
 public:
  virtual ~stream_event() = default;
};
using stream_event_ptr = std::shared_ptr<const stream_event>;

/// One stream for each queue; what is launched on it runs in order. Only drain() and the destructor wait for the device. Errors
/// are thrown: fault_error{device_lost} if nothing can run any more. Each queue is used by one thread.
class stream_driver {
 public:
  /// Waits until nobody is notified any more.
  virtual ~stream_driver() = default;

  /// Called by the thread that launches on the queue: its tensors and kernels are on this stream until the handle dies.
  virtual std::shared_ptr<void> serve(queue_kind queue) = 0;

  /// The first work on the compute queue, before the device is given to anybody: handles, workspaces, kernels.
  virtual void prepare() {}

  /// What is launched on the queue from now on waits, on the device, for the event.
  virtual void wait(queue_kind queue, const stream_event& event) = 0;
  /// The end of what has been launched on the queue so far.
  virtual stream_event_ptr record(queue_kind queue) = 0;
  /// `then` is called on a thread of the driver when the event (the queue's last) has happened; perhaps never, if the device
  /// fails. What is launched on the queue later does not wait for it. `then` only posts: it must not call the driver. Throws
  /// only if nothing can run any more.
  virtual void notify(queue_kind queue, const stream_event& event, std::function<void()> then) = 0;

  /// Returns when all that was launched on the queue is done. Called by the queue's thread, where it would be out of memory else.
  virtual void drain(queue_kind queue) = 0;
  /// What has gone wrong on the device for good; none: nothing is known of. On any thread.
  virtual fault look() noexcept { return {}; }

  /// As device::measure, device::locker.
  virtual std::unique_ptr<work_meter> measure() = 0;
  virtual page_locker* locker() noexcept = 0;
};

}  // namespace hydra
