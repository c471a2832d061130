#pragma once
// actors/policy/ answers: which unit is next? Pure classes without CAF, Torch or clocks: time and events are passed in.
// Code that sends messages, moves bytes or waits does not belong here.
//
// Read in this order: policy (input and output of a policy), sharded_lrtf (the smallest useful one), catalog (the
// table), stages and pipeline_policy (policies with static stages), several_lanes (replicas and waves by default),
// flight and lane_tracker (one lane of a model: announced unit, flights, attempts), schedule_tracker (all models and
// devices: credits and decisions), residency (which device caches which parameters), device_health and device_watch
// (devices that throw or do not respond), bounds (lower bounds of the makespan).

namespace hydra {

class schedule_tracker;
class device_health;
class device_watch;
class policy;
struct bounds;
struct candidate;
struct device_load;
struct flight;
struct model_loss;
struct placement;
struct ready_unit;

}  // namespace hydra
