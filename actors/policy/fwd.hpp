#pragma once
// actors/policy/ answers: which unit next? Pure classes without CAF, Torch or clocks: time and events are passed in.
// What sends messages, moves bytes or waits does not belong here.
//
// Read in this order: policy (what a policy sees and says), sharded_lrtf (the smallest useful one), catalog (the table),
// flight and model_tracker (one model: announced unit, flights, attempts), books (all models and devices: credits and
// decisions), candidate_list and residency (what makes decisions cheap), device_health and device_watch (which devices
// throw or are silent), bounds (how good a schedule can be at best).

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
