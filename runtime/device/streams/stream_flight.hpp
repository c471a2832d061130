#pragma once
// An operation of a stream device.

#include "runtime/base/bytes.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/device/device.hpp"
#include "runtime/device/streams/stream_driver.hpp"
#include "runtime/device/ticket.hpp"

#include <memory>
#include <vector>

namespace hydra {

/// An operation from its submission to its completion. Guarded by the device's mutex, except what only the launching
/// thread reads.
struct stream_flight {
  ticket id;
  queue_kind queue = queue_kind::compute;
  operation what;
  std::vector<ticket> after;
  /// those of `after` that were in progress when it was launched
  std::vector<std::shared_ptr<const stream_flight>> causes;
  std::vector<stream_event_ptr> waits;                 ///< ends of their work, on other queues
  stream_event_ptr end_of_work;                        ///< null until it is launched, and if the driver failed
  bool reported = true;                                ///< its completion is passed to the sink
  bool launched = false;
  /// set when the driver reports it, then used by the retiring thread
  bool done = false;
  fault error;
  time_point begin;                                    ///< of its launch, later of its work
  time_point end;
};
using flight_ptr = std::shared_ptr<stream_flight>;

}  // namespace hydra
