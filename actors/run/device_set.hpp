#pragma once
// The devices of a session: created by their factories when they are needed, for a pilot or for the run.

#include "actors/report/expense_terms.hpp"
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
  expense_terms terms{};
  std::string name{};  ///< empty: its kind and its number among those of the kind
};

/// The names of these devices.
std::vector<std::string> names_of(const std::vector<device_entry>& entries);

/// Stops its devices in its destructor. A device that hangs is leaked, because its threads use it.
class device_set {
 public:
  /// `limit`: how long to wait for a device that still works.
  device_set(const std::vector<device_entry>& entries, std::shared_ptr<spdlog::logger> log, duration limit,
             device_use use = device_use::run);
  ~device_set() { retire(); }
  device_set(const device_set&) = delete;
  device_set& operator=(const device_set&) = delete;

  std::vector<device*> pointers() const;
  std::vector<device_info> infos() const;
  /// The lockers of host pages, each once.
  std::vector<page_locker*> lockers() const;
  /// Ends their threads and returns their final state. `before_end` is called when they have stopped, with whether one
  /// of them hangs; the other devices and their lockers are destroyed right after it.
  std::vector<device_snapshot> retire(const std::function<void(bool hanging)>& before_end = {});

 private:
  std::vector<std::unique_ptr<device>> devices_;
  std::shared_ptr<spdlog::logger> log_;
  duration limit_;
};

}  // namespace hydra
