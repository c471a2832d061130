#pragma once
// What a run of the event loop knows: events, units on devices, lanes, models, devices. Internal to loop_run.hpp.

#include "actors/simulation/instance.hpp"
#include "actors/simulation/instance_chain.hpp"
#include "actors/simulation/slot_cache.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace hydra {

/// Events at one instant are handled in this order; those of one kind by `a`, `b`, then `lane`.
enum class loop_event_kind : std::uint8_t {
  unit_ended,
  written_back,
  gradients_written_back,
  version_ready,
  copies_ended,
  arrived,
  died
};

struct loop_event {
  duration at{};
  loop_event_kind kind = loop_event_kind::unit_ended;
  std::uint32_t a = 0;         ///< device or model
  std::uint32_t b = 0;         ///< shard, or place of the unit in its lane
  std::uint32_t lane = 0;
  chain_position position{};    ///< of that unit
  std::uint32_t attempt = 0;   ///< of the unit; if a unit has ended, the number of its start on the device
  bool operator>(const loop_event& o) const {
    return std::tie(at, kind, a, b, lane) > std::tie(o.at, o.kind, o.a, o.b, o.lane);
  }
};

/// A unit that is staged or computes.
struct loop_visit {
  std::uint32_t model = 0;
  std::uint32_t lane = 0;
  chain_position at;
  unit what;
  duration ready{};            ///< its copies have ended
  duration begun{};
  std::size_t slot = 0;
  bool hit = false;
};

/// A boundary or gradient sum on a device, and the staging that used it last.
struct boundary_place {
  device_id device;
  std::uint64_t staged = 0;    ///< 0: nowhere
};

/// What a device holds of a shard besides its base: one version.
struct trained_part {
  std::uint32_t version = 0;
  std::uint64_t staged = 0;
};

/// What a unit leaves for others, in the step in which it ran last.
struct loop_block {
  boundary_place made;         ///< by its unit, ...
  boundary_place read;         ///< ... and by the next one of the lane
  duration home{};             ///< a gradient sum: when it is on the host
  std::uint32_t landed = 0;    ///< a gradient sum: steps in which it has been on the host
};

struct loop_lane {
  chain_position next;                    ///< first unit that is not staged
  chain_position ended;                   ///< first unit that has not ended
  std::uint32_t attempt = 0;
  bool announced = false;                 ///< the next unit is
  bool predecessor_written_back = true;   ///< of the next unit
  device_id device;                       ///< the device of the predecessor
  std::uint64_t staged = 0;               ///< its staging there
  duration output_home{};                 ///< when the predecessor's output is on the host, ...
  duration written_back{};                ///< ... and everything of it and of the units before it
};

struct loop_model {
  loop_model(const instance_model& m, model_id id, model_id base_owner)
      : given(&m),
        chain(m, id, base_owner),
        lanes(chain.graph().lanes()),
        blocks(chain.graph().blocks()),
        versions(m.forward.size()) {
    for (std::uint32_t lane = 0; lane < lanes.size(); ++lane) {
      lanes[lane].next.node = lanes[lane].ended.node = chain.graph().lane(lane).front();
    }
  }

  const instance_model* given;
  instance_chain chain;
  std::vector<loop_lane> lanes;
  std::vector<loop_block> blocks;         ///< of its graph
  std::vector<std::uint32_t> versions;    ///< READY, per shard
  bool here = false;                      ///< it has arrived
  std::size_t last_ready = 0;             ///< shards with the last version
};

struct loop_device {
  explicit loop_device(const schedule_instance& i, double v) : speed(v), cache(i.slots) {}

  double speed;
  bool alive = true;
  slot_cache cache;
  /// by model and shard with a base; no slots
  std::map<std::pair<std::uint32_t, std::uint32_t>, trained_part> trained;
  copy_queue in;
  copy_queue out;
  std::deque<loop_visit> staged;          ///< they compute in this order
  std::optional<loop_visit> computing;
  std::uint32_t starts = 0;
  std::optional<duration> used_from{};    ///< begin of the first unit
};

}  // namespace hydra
