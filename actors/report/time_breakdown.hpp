#pragma once
// Splits the makespan of each device by cause. Pure: fed with the visits of a run in the order of their commits.

#include "actors/protocol/visit_times.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/base/unit.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace hydra {

/// The parts of one device's makespan; they add up to it.
struct time_breakdown {
  duration compute{};        ///< of units that were committed
  duration exposed_h2d{};    ///< a unit was staged, its copies in were under way
  duration exposed_d2h{};    ///< a unit was staged, it waited for copies out (for the bytes they free)
  duration optimizer{};      ///< the next unit started a step and waited for its version (gradients down, update), its
                            ///< batch or a callback; at the end of the run: the time after the last computation
  duration predecessor{};    ///< the next unit waited for the one before it on another device
  duration bubble{};         ///< the same of a model whose steps are pipelined, in waves
  duration no_unit{};        ///< before the first unit was ready, and after the last one of this device
  duration actors{};  ///< the rest: messages, decisions, a policy that kept the device waiting, work that was lost
};

struct breakdown_part {
  const char* name;
  const char* title;   ///< in tables
  duration time_breakdown::*value;
  const char* cause = nullptr;  ///< why the device did not compute, in plain words; null of computing
};
/// In the order above.
inline constexpr breakdown_part breakdown_parts[]{
    {"compute", "compute", &time_breakdown::compute},
    {"exposed_h2d", "h2d", &time_breakdown::exposed_h2d, "waits for copies to the devices"},
    {"exposed_d2h", "d2h", &time_breakdown::exposed_d2h, "waits for copies to the host"},
    {"optimizer", "optimizer", &time_breakdown::optimizer, "waits for updates, batches or callbacks"},
    {"predecessor", "predecessor", &time_breakdown::predecessor, "waits for another device's part of the model"},
    {"bubble", "pipeline bubble", &time_breakdown::bubble, "pipelines fill and drain"},
    {"no_unit", "no unit", &time_breakdown::no_unit, "devices had nothing to train"},
    {"actors", "actors", &time_breakdown::actors, "messages, decisions, other work on the cores"}};

/// What the pipeline of one model cost, all devices together.
struct pipeline_time {
  duration compute{};
  duration bubble{};
};

/// Idle time before each visit is split by what the visit waited for: the model's units before it, its version, its
/// placement, its bytes.
class breakdown_tracker {
 public:
  explicit breakdown_tracker(std::size_t devices) : devices_(devices) {}

  /// `u` has committed; steps of its model have so many waves.
  void add(const unit& u, device_id device, const visit_times& t, std::uint32_t waves = 1);

  /// The parts of a device's share of [begin, end).
  time_breakdown of(device_id device, time_point begin, time_point end) const;
  pipeline_time of(model_id model) const;
  /// By each of so many models, of the units that were committed.
  std::vector<duration> computed(device_id device, std::size_t models) const;
  /// From the begin of the device's first unit to the end of its last.
  duration used(device_id device) const;

 private:
  struct device_page {
    time_breakdown sums;                               ///< without start and end of the run, and without `actors`
    std::map<model_id, duration> computed;
    std::optional<time_point> first_available;
    std::optional<time_point> first_begin;
    std::optional<time_point> last_end;
  };
  /// Of a device that was idle from `from` on.
  struct idle_time {
    time_point from;
    time_point available;
    std::uint32_t waves = 1;
  };
  void wait_before(device_page& page, const unit& u, const idle_time& idle);
  time_point computed_before(const unit& u) const;
  void wait_for_units(device_page& page, const unit& u, std::uint32_t waves, duration time);

  struct last_unit {
    step_index step;
    time_point end;
  };

  std::vector<device_page> devices_;
  std::map<std::tuple<model_id, replica_id, wave_index>, last_unit> last_;   ///< committed unit of each lane
  std::map<model_id, pipeline_time> models_;
};

}  // namespace hydra
