#pragma once
// The devices of a session: made from their factories when they are needed, for a pilot or for the run.

#include "actors/report/report_builder.hpp"
#include "runtime/base/log.hpp"
#include "runtime/device/device.hpp"
#include "runtime/device/device_request.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace hydra {

struct device_entry {
  std::string kind;
  std::function<std::unique_ptr<device>(const std::string& name, device_use use)> make;
};

/// Retires its devices at its end. A device that hangs is kept for ever, because its threads use it.
class device_set {
 public:
  /// `limit`: how long a device that still works is awaited at its end.
  device_set(const std::vector<device_entry>& entries, std::shared_ptr<spdlog::logger> log, duration limit,
             device_use use = device_use::run);
  ~device_set() { retire(); }
  device_set(const device_set&) = delete;
  device_set& operator=(const device_set&) = delete;

  std::vector<device*> pointers() const;
  std::vector<device_info> infos() const;
  /// Those that the host's pages are locked for, each once.
  std::vector<page_locker*> lockers() const;
  /// What is left of them: their threads end here. `before_end` is called when they have stopped, and told whether one of
  /// them hangs; what the others bring (lockers) ends with them, right after.
  std::vector<device_snapshot> retire(const std::function<void(bool hanging)>& before_end = {});

 private:
  std::vector<std::unique_ptr<device>> devices_;
  std::shared_ptr<spdlog::logger> log_;
  duration limit_;
};

}  // namespace hydra
