#include "partition/plan/plan.hpp"

#include "models/moment_layout.hpp"
#include "models/optimizer/parameter_rule.hpp"
#include "models/parameter_layout.hpp"
#include "partition/plan/saving_cuts.hpp"
#include "partition/plan/shared_bases.hpp"
#include "partition/plan/staging_search.hpp"
#include "partition/plan/sufficient.hpp"
#include "partition/profile/side_by_side.hpp"
#include "runtime/base/fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace hydra {

namespace {

/// In micro-batches: the scalars of a footprint include so many losses.
constexpr std::uint32_t longest_evaluation_visit = 256;

/// The device with the least usable memory.
const device_info& smallest(std::span<const device_info> devices) {
  if (devices.empty()) {
    throw fault_error(fault_code::bad_input, "the workload has no device; add one by session::add_devices");
  }
  return *std::ranges::min_element(devices, {}, &device_info::usable);
}

/// Parameter after parameter. Gradients in bf16 are widened first.
byte_count scratch_of(const parameter_layout& layout, const plan_request& m) {
  std::size_t most = 0;
  for (const auto& p : layout.parameters()) {
    const auto scratch = p.trained() ? update_scratch(kind_for(m.rule.kind, p.form()), p.form()) : 0;
    const bool widens = scratch > 0 && m.model->gradients() == precision::bf16;
    most = std::max(most, scratch + (widens ? p.elements * sizeof(float) : 0));
  }
  return byte_count{most};
}

/// As if it were stepped on the host; `device_update_time`: what the step would take on a device.
shard_plan plan_shard(const plan_request& m, std::size_t first, std::size_t last) {
  const auto& layers = m.profile->layers;
  const bool is_last = last == layers.size();
  const parameter_layout layout(*m.model, first, last);
  shard_plan s;
  s.first_layer = first;
  s.last_layer = last;
  s.parameters = layout.device_bytes();
  s.base = layout.base_bytes();
  if (s.parameters != layout.bytes()) {
    s.masters = layout.bytes();
    s.gradients = m.model->gradients() == precision::bf16 ? s.parameters : layout.bytes();
  }
  const moment_layout moments(layout, m.rule);
  for (std::size_t i = 0; i < moments.buffers(); ++i) {
    s.moments.push_back(moments.bytes(i));
  }
  s.update_time = m.update.time_for(work_of(layout, m.rule));
  s.device_update_time = m.stepping.device.time_for(layout.state_elements());
  s.update_scratch = scratch_of(layout, m);
  s.input_spec = layers[first].input_spec;
  s.second_spec = is_last ? m.profile->target_spec : layers[last - 1].output_spec;
  s.terms = terms_before(*m.profile, first);
  s.joins_columns = joins_columns(*m.profile, first);
  if (const auto* all = joined_with(*m.profile, last - 1)) {
    s.second_spec = *all;
    s.output_columns = columns_of(*m.profile, last - 1);
  }
  s.input = s.input_spec.bytes();
  s.output = is_last ? byte_count{} : layers[last - 1].output_spec.bytes();
  s.targets = is_last ? m.profile->target_spec.bytes() : byte_count{};
  s.forward = footprint_of(*m.profile, first, last, direction::forward);
  s.backward = footprint_of(*m.profile, first, last, direction::backward);
  s.evaluation = footprint_of(*m.profile, first, last, direction::evaluate);
  for (std::size_t i = first; i < last; ++i) {
    s.forward_time += layers[i].forward * m.micro_batches;
    s.evaluation_time += layers[i].forward;
    s.backward_time += layers[i].backward * m.micro_batches;
  }
  s.saved = saved_bytes_of(m, first, last);
  return s;
}

/// A model alone on the slowest link.
std::vector<shard_boundary> boundaries_of(const plan_request& m, std::span<const shard_plan> shards) {
  const auto& link = m.stepping.link;
  std::vector<shard_boundary> turns;
  for (const auto& s : shards) {
    auto state = s.parameters;
    for (const auto each : s.state_buffers()) {
      state += each;
    }
    turns.push_back({.forward = s.last_layer == m.profile->layers.size() ? duration{} : s.forward_time,
                     .backward = s.backward_time,
                     .promote = link.time_for(s.parameters),
                     .demote = link.time_for(s.gradient_bytes()),
                     .update = s.update_time / m.stepping.host_threads,
                     .device_update = s.device_update_time,
                     .demote_stepped = link.time_for(state)});
  }
  return turns;
}

/// How many of the first shards can be stepped on a device.
std::size_t most_on_device(const plan_request& m, std::span<const shard_plan> shards, byte_count computing) {
  const auto there = std::ranges::find_if(shards, [&](const shard_plan& s) {
    return !m.profile->stepping.possible(s.first_layer, s.last_layer) ||
           with_step(*m.profile, s.backward).computing() > computing;
  });
  return static_cast<std::size_t>(there - shards.begin());
}

/// Where the shard is stepped; what its backward visit needs and takes follows from that. A device does not see the
/// sums of several lanes together.
void set_stepping(shard_plan& s, const plan_request& m, bool asked) {
  s.steps_on_device = asked && m.replicas * m.waves == 1 && m.replicas_elsewhere == 0;
  s.device_update_time = s.steps_on_device ? s.device_update_time : duration{};
  s.backward_time += s.device_update_time;
  if (s.steps_on_device) {
    s.backward = with_step(*m.profile, s.backward);
  } else if (m.model->gradients() == precision::bf16 && m.waves == 1) {  // partial sums are written back in fp32
    s.backward = with_rounded_gradients(s.backward);
  }
  if (s.last_layer == m.profile->layers.size()) {
    s.forward = s.backward;
  }
}

/// `automatic`: by the rates; all on the host if the first shards have nothing to update.
void place_updates(model_plan& plan, const plan_request& m, byte_count computing) {
  const bool by_rates = m.stepping.place == optimizer_place::automatic;
  const bool splits = by_rates && plan.first_trained == 0 && !m.stepping.gaps_are_filled;
  const auto split =
      splits ? best_split(boundaries_of(m, plan.shards), most_on_device(m, plan.shards, computing)) : 0;
  for (std::size_t i = 0; i < plan.shards.size(); ++i) {
    auto& s = plan.shards[i];
    set_stepping(s, m, by_rates ? i < split : m.profile->stepping.covers(s.first_layer, s.last_layer));
  }
}

/// The first shard that has parameters to be stepped, if some other parameters are frozen; of shards side by side the
/// first one.
std::uint32_t first_trained(const chain& model, const model_plan& plan) {
  if (!model.has_frozen()) {
    return 0;
  }
  const auto trains = [](const shard_plan& s) { return s.parameters > byte_count{}; };
  const auto found = std::ranges::find_if(plan.shards, trains) - plan.shards.begin();
  const shard_index first{static_cast<std::uint32_t>(found)};
  const auto* pieces = group_of(first, plan.groups);
  return pieces ? pieces->first : first.value;
}

/// That begins with the layer.
std::uint32_t shard_of(const cut_points& cuts, std::size_t first_layer) {
  return static_cast<std::uint32_t>(std::ranges::find(cuts, first_layer) - cuts.begin());
}

/// It is visited forwards only.
void leave_out_backward(shard_plan& s) {
  s.backward_time = s.device_update_time = {};
  s.steps_on_device = false;
  s.saved = {};
  s.backward = s.forward;
}

/// `computing`: bytes that a device has for P + C.
model_plan plan_model(const plan_request& m, const cut_points& cuts, byte_count computing) {
  model_plan plan;
  plan.name = m.name;
  plan.micro_batches = m.micro_batches;
  plan.replicas = m.replicas;
  plan.waves = m.waves;
  plan.gathered_sums = gathers_sums(*m.model) ? m.replicas_elsewhere : 0;
  plan.samples = m.profile->samples;
  plan.update_threads = m.stepping.host_threads;
  plan.evaluation = {.micro_batches = m.evaluation,
                     .round = std::min(m.micro_batches / m.replicas / m.waves * 4, longest_evaluation_visit)};
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    plan.shards.push_back(plan_shard(m, cuts[i], last_layer(cuts, i, m.profile->layers.size())));
  }
  plan.groups = groups_of(*m.profile, cuts);
  plan.meets = m.replicas > 1 ? shard_of(cuts, m.profile->meets) : 0;
  plan.pieces = m.model->pieces();
  plan.first_trained = first_trained(*m.model, plan);
  place_updates(plan, m, computing);
  for (std::uint32_t s = 0; s < plan.first_trained; ++s) {
    leave_out_backward(plan.shards[s]);
  }
  return plan;
}

const footprint& footprint_for(const shard_plan& s, direction way) {
  return way == direction::forward ? s.forward : way == direction::backward ? s.backward : s.evaluation;
}

void set_staging(workload_plan& plan) {
  for (const auto& m : plan.models) {
    for (const auto& s : m.shards) {
      for (const auto way : {direction::forward, direction::backward, direction::evaluate}) {
        plan.staging_bytes = std::max(plan.staging_bytes, footprint_for(s, way).staging());
        plan.computing_bytes = std::max(plan.computing_bytes, footprint_for(s, way).computing());
      }
    }
  }
}

void set_host_bytes(workload_plan& plan, std::size_t devices) {
  plan.host_needed = host_demand(plan.models, devices);
  plan.host_transfers = host_transfers(plan.models, devices);
}

}  // namespace

bool gathers_sums(const chain& model) {
  const parameter_layout layout(model, 0, model.size());
  return model.gradients() == precision::bf16 ||
         std::ranges::any_of(layout.parameters(),
                             [](const placed_parameter& p) { return !p.tied_to.empty() && !p.frozen; });
}

std::uint32_t evaluation_range::size_of(std::uint32_t first) const noexcept {
  return first < micro_batches ? std::min(round, micro_batches - first) : 0;
}

cut_points model_plan::cuts() const {
  cut_points cuts;
  for (const auto& s : shards) {
    cuts.push_back(s.first_layer);
  }
  return cuts;
}

step_shape model_plan::shape() const noexcept {
  return {.shards = static_cast<std::uint32_t>(shards.size()), .micro_batches = micro_batches, .replicas = replicas,
          .waves = waves, .first_trained = first_trained, .abreast = most_side_by_side(groups), .meets = meets};
}

std::vector<byte_count> shard_plan::state_buffers() const {
  std::vector<byte_count> all(masters ? 1 : 0, masters.value_or(byte_count{}));
  all.insert(all.end(), moments.begin(), moments.end());
  return all;
}

byte_count shard_plan::moment_bytes() const noexcept {
  return std::accumulate(moments.begin(), moments.end(), byte_count{});
}

byte_count workload_plan::write_back_bytes() const {
  byte_count most;
  for (const auto& m : models) {
    for (const auto& s : m.shards) {
      most = std::max({most, s.forward.write_back, s.backward.write_back, s.evaluation.write_back});
    }
  }
  return most;
}

const footprint& model_plan::footprint_of(const unit& u) const {
  return footprint_for(shards.at(u.shard.value), u.way);
}

duration model_plan::time_of(const unit& u) const {
  const auto& s = shards.at(u.shard.value);
  if (u.way == direction::evaluate) {
    return s.evaluation_time * u.micro_batches;
  }
  const auto whole_step = u.way == direction::forward ? s.forward_time : s.backward_time;
  return whole_step * u.micro_batches / micro_batches;
}

duration model_plan::computing_time_of(const unit& u) const {
  const bool back = u.way == direction::backward;
  return std::max(time_of(u) - (back ? shards.at(u.shard.value).device_update_time : duration{}), duration{});
}

duration model_plan::expected_time_of(const unit& u) const {
  byte_count all;
  for (std::uint32_t s = 0; s < shards.size(); ++s) {
    all += shards[s].saved * shape().batches_of(s);
  }
  if (u.way != direction::backward || all == byte_count{} || shards[u.shard.value].saved == byte_count{}) {
    return time_of(u);
  }
  const auto share = std::min(1.0, static_cast<double>(saving_room.value()) / static_cast<double>(all.value()));
  const auto again = recomputing_time_of(u) * u.micro_batches;
  return std::max(time_of(u) - from_seconds(seconds(again) * share), duration{});
}

byte_count saved_bytes_of(const plan_request& m, std::size_t first, std::size_t last) {
  return m.model->base() == base_format::as_computed ? saved_bytes(*m.profile, first, last) : byte_count{};
}

duration model_plan::recomputing_time_of(const unit& u) const {
  const bool again = u.way == direction::backward && u.shard.value + 1 < shards.size();
  return again ? shards.at(u.shard.value).forward_time / micro_batches : duration{};
}

workload_plan make_plan(std::span<const plan_request> models, std::span<const device_info> devices, bool saves) {
  const auto& limit = smallest(devices);
  auto best = staging_search(models, limit.usable()).best();
  if (!best) {
    refuse_memory(models, limit);
  }
  if (saves) {
    best = saving_cuts(models, limit.usable(), *std::move(best));
  }
  workload_plan plan;
  auto cuts = best->cuts;
  const auto computing = limit.usable() - best->staging;
  cut_alike(models, {.computing = computing, .staging = best->staging}, cuts);
  const auto alone = budgets_alone(models);
  for (std::size_t i = 0; i < models.size(); ++i) {
    plan.models.push_back(plan_model(models[i], cuts[i], computing));
    name_bases(plan.models.back(), models[i].base, model_id{static_cast<std::uint32_t>(i)}, plan.bases);
    plan.models.back().sufficient = alone[i];
  }
  set_staging(plan);
  plan.sufficient = smallest_budget(models);
  set_host_bytes(plan, devices.size());
  return plan;
}

model_plan plan_joining(const plan_request& m, std::span<const device_info> devices, byte_count staging_bytes) {
  const auto& limit = smallest(devices);
  const std::span one(&m, 1);
  const auto cuts = staging_search(one, limit.usable()).cuts_within(0, staging_bytes);
  if (!cuts) {
    refuse_joining(m, limit, staging_bytes);
  }
  auto plan = plan_model(m, *cuts, limit.usable() - staging_bytes);
  plan.sufficient = smallest_budget(one);
  return plan;
}

void shorten_evaluations(workload_plan& plan, byte_count cap, std::size_t devices) {
  for (bool shorter = true; shorter && plan.host_needed > cap;) {
    shorter = false;
    for (auto& m : plan.models) {
      shorter = shorter || m.evaluation.round > 1;
      m.evaluation.round = std::max(m.evaluation.round / 2, 1u);
    }
    set_host_bytes(plan, devices);
  }
}

namespace {

/// Bytes that lanes take in addition to one lane: gradient sums, and what they evaluate at the same time.
byte_count lane_bytes(const workload_plan& plan) {
  auto single = plan.models;
  for (auto& m : single) {
    m.replicas = m.waves = 1;
    m.meets = 0;
  }
  const auto [all, one] = std::pair{host_demand(plan.models, 1), host_demand(single, 1)};
  return all > one ? all - one : byte_count{};
}

std::string host_advice(const workload_plan& plan) {
  const bool divided = std::ranges::any_of(plan.models, [](const model_plan& m) { return m.shape().visits() > 1; });
  return divided ? fmt::format(
                       "raise it, use fewer replicas or waves (with gradient sums of their own they take {} of it), or "
                       "train fewer models at once",
                       to_string(lane_bytes(plan)))
                 : "raise it, or train fewer models at once";
}

}  // namespace

void check_host(const workload_plan& plan, byte_count cap) {
  if (plan.host_needed > cap) {
    throw fault_error(
        fault_code::does_not_fit,
        fmt::format("the run needs {} ({} bytes) of host memory for parameters, optimizer state, "
                    "boundary activations, gradients and batches, but [host] memory allows {}; {}",
                    to_string(plan.host_needed), plan.host_needed.value(), to_string(cap), host_advice(plan)));
  }
}

}  // namespace hydra
