#pragma once
// The plan: shards with measured costs, checked against every byte budget before the first allocation.

#include "models/optimizer/update_rule.hpp"
#include "models/parameter_slice.hpp"
#include "partition/plan/cut.hpp"
#include "partition/profile/profile.hpp"
#include "partition/profile/update_cost.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/base/shard_group.hpp"
#include "runtime/base/step_shape.hpp"
#include "runtime/base/unit.hpp"
#include "runtime/device/device.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace hydra {

/// The name of a base that several models have: a shard that has it, of a model that need not exist any more.
struct base_place {
  model_id model;
  shard_index shard;
  friend auto operator<=>(const base_place&, const base_place&) = default;
};

/// What decides the bytes of a shard's base: its first layer, and the contents of its layers (plan_request::base).
using base_content = std::pair<std::size_t, std::vector<std::string>>;

using known_bases = std::map<base_content, base_place>;

/// One shard: layers [first_layer, last_layer). Bytes of activations are of one micro-batch; times of a whole visit
/// (all micro-batches) at speed 1.
struct shard_plan {
  std::size_t first_layer = 0;
  std::size_t last_layer = 0;
  byte_count parameters;         ///< that are stepped, as promoted
  std::optional<byte_count> gradients{};  ///< as copied: of bf16 parameters, in simulations; none: as the parameters
  std::optional<byte_count> masters{};    ///< fp32, on the host, if what is promoted is not fp32; else none
  byte_count base{};             ///< frozen parameters, as promoted
  std::optional<base_place> shared_base{};   ///< none: its own
  /// Then the base decides whether the shard counts as cached, else its other parameters.
  bool is_mostly_frozen() const noexcept { return base > parameters; }
  std::vector<byte_count> moments{};  ///< host bytes of each moment buffer
  byte_count update_scratch{};        ///< host bytes that a step on the host allocates for its time
  byte_count input;              ///< minibatch of shard 0, boundary activation of the others
  byte_count output;             ///< boundary activation; 0 for the last shard
  byte_count targets;            ///< last shard only
  tensor_spec input_spec;        ///< of one micro-batch
  tensor_spec second_spec;       ///< upstream gradient (shape of the output), or the targets for the last shard
  /// Behind shards side by side: of what is joined to its input, behind input_spec; of columns all terms.
  std::vector<tensor_spec> terms{};
  bool joins_columns = false;
  std::optional<parameter_slice::range> output_columns{};  ///< of a shard beside others: which of the upstream are its
  footprint forward;             ///< not used by the last shard
  footprint backward;
  footprint evaluation;
  /// What a forward visit can leave on its device so that the backward visit need not compute it again; 0: nothing.
  byte_count saved{};
  duration forward_time{};
  duration evaluation_time{};    ///< of one micro-batch
  duration update_time{};        ///< optimizer step on the host, on one thread
  duration backward_time{};      ///< recompute (last shard: forward + loss) + backward + the step, if on the device
  /// The backward visit also steps the shard: state comes in, state and parameters go out.
  bool steps_on_device = false;
  duration device_update_time{};  ///< part of backward_time
  /// fp32 buffers of optimizer state in their order, masters first (none if what is promoted are the masters).
  std::vector<byte_count> state_buffers() const;
  byte_count moment_bytes() const noexcept;  ///< of all moment buffers
  byte_count gradient_bytes() const noexcept { return gradients.value_or(parameters); }
  /// Of a gradient sum to which another wave will add: always fp32.
  byte_count partial_sum_bytes() const noexcept { return masters ? *masters : gradient_bytes(); }
};

/// Micro-batches of one evaluation of a model, and how many of them one visit of a shard takes. A visit with four times
/// the micro-batches of a step takes about as long as a backward visit, so an evaluation does not make the schedule
/// coarser.
struct evaluation_range {
  std::uint32_t micro_batches = 0;   ///< 0: the model is not evaluated
  std::uint32_t round = 1;
  std::uint32_t rounds() const noexcept { return (micro_batches + round - 1) / round; }
  /// Of the visit that starts with micro-batch `first`.
  std::uint32_t size_of(std::uint32_t first) const noexcept;
};

struct model_plan {
  std::string name;
  std::vector<shard_plan> shards;
  std::uint32_t micro_batches = 1;   ///< of a step
  std::uint32_t replicas = 1;    ///< gradient sums of a step (step_shape)
  std::uint32_t meets = 0;       ///< shard before which the replicas meet; 0: they do not (step_shape)
  std::uint32_t waves = 1;       ///< visits of a shard that add to one sum
  std::uint32_t gathered_sums = 0;   ///< of each shard, that come from other nodes and stay beside the own ones
  std::uint32_t first_trained = 0;   ///< shard; those below it have only frozen parameters (step_shape)
  std::vector<shard_group> groups{};  ///< of shards side by side
  std::uint32_t pieces = 1;           ///< of each layer that is divided
  std::int64_t samples = 0;      ///< per micro-batch
  int update_threads = 1;        ///< of the host: so many shards of a run are stepped at a time
  evaluation_range evaluation;
  std::string profile;           ///< key in the plan's profiles; empty if it is not among them
  byte_count sufficient;         ///< smallest device memory (without reserve) on which it runs alone
  byte_count saving_room{};      ///< that devices have for what its forward visits save; 0: not known
  std::optional<byte_count> slot{};  ///< in simulations whose devices count in slots: bytes of one slot
  cut_points cuts() const;
  step_shape shape() const noexcept;
  /// Demand of a unit on its device.
  const footprint& footprint_of(const unit& u) const;
  /// Of backward visits: if they compute the forward again.
  duration time_of(const unit& u) const;
  /// By the share of the saved tensors of a lane for which there is room.
  duration expected_time_of(const unit& u) const;
  /// Of its micro-batches alone, without the step at the end of some backward visits.
  duration computing_time_of(const unit& u) const;
  /// The part of a backward visit that computes the forward again, of one micro-batch; 0 of the last shard.
  duration recomputing_time_of(const unit& u) const;
};

/// The terms that decide which shards are updated on a device.
struct stepping_terms {
  optimizer_place place = optimizer_place::host;
  element_rate device{};         ///< of a device's updates; zero if not known
  byte_rate link{};              ///< of the slowest device; of emulated ones if no rate was measured
  int host_threads = 1;
  bool equally_fast = true;      ///< devices: the next visit of shard 0 may follow where it was stepped
  bool gaps_are_filled = false;  ///< by other models: then `automatic` leaves all updates to the host
};

/// A model as the planner sees it.
struct plan_request {
  std::string name;
  const chain* model = nullptr;
  const chain_profile* profile = nullptr;
  std::uint32_t micro_batches = 1;
  std::uint32_t replicas = 1;
  std::uint32_t waves = 1;
  std::uint32_t replicas_elsewhere = 0;  ///< of the same step, by other nodes (step_share)
  update_options rule{};         ///< it decides how large the moments are
  std::uint32_t evaluation = 0;  ///< micro-batches of an evaluation
  cut_rule cuts;
  update_rates update{};  ///< of its update rule; zero if not known
  /// What decides the frozen parameters of each layer, empty for layers that have none; no layers: no other model may
  /// share them.
  std::vector<std::string> base{};
  stepping_terms stepping{};     ///< `profile` says for which pieces memory must be reserved
};

/// By fingerprint and the setting they were measured in.
using profile_set = std::map<std::string, std::shared_ptr<const chain_profile>>;

struct workload_plan {
  std::vector<model_plan> models;
  profile_set profiles;          ///< what the plan was made from
  byte_count staging_bytes;       ///< X: max W over all units
  byte_count computing_bytes;     ///< max P + C over all units
  std::uint32_t staged_units = 1;  ///< most that a device stages besides the one that computes
  byte_count sufficient;         ///< smallest device memory (without reserve) for all of it
  byte_count host_needed;        ///< parameters, moments, batches, write-back buffers of boundaries and gradients
  known_bases bases;             ///< that models share, or may share
  byte_count host_transfers;     ///< part of it: all but what only the host reads and writes (moments)
  /// models that are admitted when others have given their host memory back; the bytes above are those of the others
  std::set<model_id> waiting{};

  /// Max over all units of what is free only after their write-back.
  byte_count write_back_bytes() const;
};

/// The gradient sums of replicas on other nodes must be had one by one: they are rounded, or are added in an order that
/// also has those of tied copies. Else nodes may add them.
bool gathers_sums(const chain& model);

/// Cuts every model so that `max (P + C) + max W + reserve <= M` holds on every device (the smallest M - reserve
/// decides). For X staging bytes each model is cut on its own (P + C <= M - reserve - X, W <= X); of all X: fewest
/// shards in total, then smallest largest visit time, then smallest X. If `saves`, of several cuts that leave more or
/// less memory to saved tensors the one with the least computing time is taken. Throws fault_error{does_not_fit} naming
/// model, layer, its bytes and the smallest sufficient budgets.
workload_plan make_plan(std::span<const plan_request> models, std::span<const device_info> devices, bool saves = false);

/// Bytes of one micro-batch that a forward visit of layers [first, last) can save for the backward visit; 0 where it
/// cannot (the last shard; a base that is widened), or need not.
byte_count saved_bytes_of(const plan_request& m, std::size_t first, std::size_t last);

/// Cuts a model for a run that is under way, whose staging bytes X stay as they are: P + C <= M - reserve - X, W <= X
/// on every device. Throws fault_error{does_not_fit} naming the layer, its bytes and the available bytes.
model_plan plan_joining(const plan_request& m, std::span<const device_info> devices, byte_count staging_bytes);

/// Bytes of host memory that the run needs with `devices` devices, and the part of them that devices copy from or to.
/// make_plan's result contains both.
byte_count host_demand(std::span<const model_plan> models, std::size_t devices);
byte_count host_transfers(std::span<const model_plan> models, std::size_t devices);

/// Makes the visits of evaluations shorter until host_needed <= cap, or until none can be shorter.
void shorten_evaluations(workload_plan& plan, byte_count cap, std::size_t devices);

/// Throws fault_error{does_not_fit} unless host_needed <= cap.
void check_host(const workload_plan& plan, byte_count cap);

/// Where not all models fit into host memory: admits them in the order of their priorities (the largest first, equal
/// ones in their order) as long as they fit, and lets the others wait. Throws fault_error{does_not_fit} for a model
/// that does not fit alone.
void admit_models(workload_plan& plan, std::span<const double> priorities, byte_count cap, std::size_t devices);

}  // namespace hydra
