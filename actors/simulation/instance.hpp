#pragma once
// A scheduling instance: models, devices and the rules of the machine, with all times. Pure data; the input of the
// simulator's two drivers (event_loop.hpp, simulated_instance.hpp). Standard library only.

#include "actors/report/expense_terms.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/base/ids.hpp"
#include "runtime/base/step_shape.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hydra {

/// One model: times at speed 1 of one unit, one entry per shard. A step of S shards is F_0 .. F_{S-2}, L = forward +
/// loss + backward of shard S-1, B_{S-2} .. B_0, in each of its lanes (step_shape).
struct instance_model {
  std::string name;
  std::uint32_t steps = 1;
  std::uint32_t replicas = 1;           ///< of each step
  std::uint32_t waves = 1;              ///< of each replica
  std::uint32_t first_trained = 0;      ///< shard; those below it have no backward units
  std::vector<duration> forward{};
  std::vector<duration> backward{};
  std::vector<duration> h2d{};          ///< copy of the shard's parameters to a device; of those besides its base
  std::vector<duration> d2h_gradient{}; ///< copy of its gradient sum, in either direction
  std::vector<duration> optimizer{};    ///< its update, on one host worker
  std::vector<duration> base_h2d{};  ///< copy of its frozen parameters (base), longer than h2d; 0 or empty: it has none
  std::string base{};                ///< models that name the same one have the same base; empty: its own
  duration activation{};                ///< copy of a boundary, in either direction
  double remaining_scale = 1;           ///< wall time of the model alone on the fastest device / its compute time
  duration arrival{};                   ///< it joins then
  double priority = 1;                  ///< weight of its completion
  std::optional<duration> deadline{};   ///< since the start of the run
};

struct instance_device {
  double speed = 1;
  std::optional<duration> fails{};      ///< it dies then
  expense_terms terms{};
};

struct schedule_instance {
  std::string name;
  std::string note{};
  std::vector<instance_device> devices{};
  std::vector<instance_model> models{};
  std::uint32_t slots = 2;              ///< cache slots of a device, each for one shard's parameters, or its base
  bool prefetch = true;                 ///< units may be staged while another computes
  std::uint32_t depth = 1;              ///< so many, one behind the other; fewer than slots
  bool copy_back_clean = false;         ///< unchanged parameters of forward visits are copied to the host
  std::uint32_t host_workers = 1;
  double noise = 0;                     ///< units take up to this share longer or shorter than policies expect
  std::uint64_t seed = 0;               ///< of the noise
};

/// When a unit counts as complete, so that its successor may be staged on another device.
enum class completion_rule : std::uint8_t {
  ended,   ///< when it has computed; its gradients drain in the slot (rules of the scheduling instances' README). What
           ///< has ended counts as written back even if its device dies meanwhile
  written_back,  ///< when all its outputs are written back, as in a real run; its gradients drain outside the slot
};

/// Copy of the shard's frozen parameters; zero: it has none.
duration base_copy(const instance_model& m, std::size_t shard);

/// Of each model, the first one that has the same base: the name of the base. A model with a base of its own is the
/// first.
std::vector<model_id> base_owners(const schedule_instance& instance);

/// How its steps are divided: units of one micro-batch each.
step_shape shape_of(const instance_model& m);

/// Units of all models: steps * lanes * length of a lane.
std::uint64_t count_units(const schedule_instance& instance);

/// Throws fault_error{bad_input} that names model and key: vectors of other lengths than `forward`, no device, no
/// shard, no replica or wave, no trained shard, negative times, a base that is not longer than the rest of its shard or
/// differs from another one of its name, speeds outside (0, 1], prices or watts that are negative or that only some
/// devices have, no slot, more units staged than there are slots for, no host worker.
void validate(const schedule_instance& instance);

}  // namespace hydra
