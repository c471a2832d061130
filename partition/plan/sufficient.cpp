#include "partition/plan/sufficient.hpp"

#include "models/lora.hpp"
#include "partition/plan/staging_search.hpp"
#include "partition/profile/layer_name.hpp"
#include "runtime/base/fault.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hydra {

namespace {

const cut_points* given_by(const plan_request& m) { return std::get_if<cut_points>(&m.cuts); }

std::string named_bytes(byte_count n) { return fmt::format("{} ({} bytes)", to_string(n), n.value()); }

/// One shard of the simplest cuts.
struct named_shard {
  std::string text;
  byte_count computing;
};

named_shard name_shard(const plan_request& m, const cut_points& cuts, std::size_t i) {
  const auto last = last_layer(cuts, i, m.profile->layers.size());
  const auto demand = demand_of(*m.profile, cuts[i], last);
  const auto what =
      given_by(m) ? fmt::format("shard {} (layers {} to {})", i, cuts[i], last - 1) : fmt::format("layer {}", cuts[i]);
  return {
      fmt::format("{} of model '{}' ({}) needs {} to compute and {} to stage", what, m.name,
                  layer_name(m.model->signature(cuts[i])), named_bytes(demand.computing), named_bytes(demand.staging)),
      demand.computing};
}

named_shard larger(named_shard a, named_shard b) { return b.computing > a.computing ? b : a; }

/// The shard that needs the most memory.
named_shard largest_of(const plan_request& m) {
  const auto cuts = simplest_cuts(m);
  named_shard most = name_shard(m, cuts, 0);
  for (std::size_t i = 1; i < cuts.size(); ++i) {
    most = larger(std::move(most), name_shard(m, cuts, i));
  }
  return most;
}

bool same_costs(const plan_request& a, const plan_request& b) {
  return a.profile == b.profile && a.cuts.index() == b.cuts.index() && (!given_by(a) || *given_by(a) == *given_by(b));
}

/// Position of the first model that costs the same.
std::size_t first_like(std::span<const plan_request> models, std::size_t i) {
  const auto first = std::ranges::find_if(models, [&](const plan_request& m) { return same_costs(m, models[i]); });
  return static_cast<std::size_t>(first - models.begin());
}

/// A line for each model whose costs differ from all those before it; of one model all is said already.
std::string model_lines(std::span<const plan_request> models, byte_count reserve) {
  if (models.size() == 1) {
    return "";
  }
  const auto alone = budgets_alone(models);
  std::vector<std::size_t> like(models.size());
  for (std::size_t i = 0; i < models.size(); ++i) {
    ++like[first_like(models, i)];
  }
  std::string lines = " Model by model:";
  for (std::size_t i = 0; i < models.size(); ++i) {
    if (like[i] > 0) {
      lines += fmt::format("\n  {}; alone {} needs memory = {}", largest_of(models[i]).text,
                           like[i] > 1 ? fmt::format("it, or any of the {} models like it,", like[i]) : "the model",
                           named_bytes(alone[i] + reserve));
    }
  }
  return lines;
}

/// Of all models the one with the shard that needs the most memory.
const plan_request& largest_in(std::span<const plan_request> models) {
  const auto* largest = &models.front();
  auto most = largest_of(*largest).computing;
  for (std::size_t i = 1; i < models.size(); ++i) {
    const auto computing = first_like(models, i) == i ? largest_of(models[i]).computing : byte_count{};
    if (computing > most) {
      largest = &models[i];
      most = computing;
    }
  }
  return *largest;
}

}  // namespace

byte_count smallest_budget(std::span<const plan_request> models) {
  shard_demand enough;
  for (const auto& m : models) {
    enough = larger(enough, demand_of(*m.profile, simplest_cuts(m)));
  }
  return staging_search(models, enough.staging + enough.computing).least().value();
}

std::vector<byte_count> budgets_alone(std::span<const plan_request> models) {
  std::vector<byte_count> all;
  for (std::size_t i = 0; i < models.size(); ++i) {
    const auto first = first_like(models, i);
    all.push_back(first < i ? all[first] : smallest_budget(models.subspan(i, 1)));
  }
  return all;
}

namespace {

std::string step_advice(std::span<const plan_request> models) {
  const bool asked = std::ranges::any_of(
      models, [](const plan_request& m) { return m.stepping.place == optimizer_place::device; });
  return asked ? "Leave optimizer_on at \"host\" (updates on devices need memory there), raise" : "Raise";
}

/// Empty: its layers cannot be divided further.
std::string piece_advice(const plan_request& m) {
  return more_pieces(*m.model, m.cuts, m.rule.kind) == 0
             ? ""
             : "divide layers (model.parallel.pieces: hydra plan says into how many), ";
}

bool can_be_divided(const chain& whole, std::uint32_t pieces, bool side_by_side) try {
  chain(whole).divide(pieces, side_by_side).validate();
  return true;
} catch (const fault_error&) {
  return false;
}

}  // namespace

namespace {

std::uint32_t pieces_from(std::uint64_t least, const chain& model, const cut_rule& cuts, update_kind rule) {
  constexpr std::uint32_t most = 64;
  if (std::holds_alternative<cut_points>(cuts) || needs_whole_parameters(rule) || adapter_of(model)) {
    return 0;
  }
  const auto whole = chain(model).join();
  for (; least <= most; ++least) {
    if (can_be_divided(whole, static_cast<std::uint32_t>(least), model.side_by_side())) {
      return static_cast<std::uint32_t>(least);
    }
  }
  return 0;
}

}  // namespace

std::uint32_t more_pieces(const plan_request& m, byte_count needed, byte_count usable) {
  const std::uint64_t now = m.model->pieces(), layers = now == 1 ? 2 : 1;
  const auto room = std::max<std::uint64_t>(usable.value() * layers, 1);
  return pieces_from(std::max(now + 1, (now * needed.value() + room - 1) / room), *m.model, m.cuts, m.rule.kind);
}

std::uint32_t more_pieces(const chain& model, const cut_rule& cuts, update_kind rule) {
  return pieces_from(model.pieces() + std::uint64_t{1}, model, cuts, rule);
}

void refuse_memory(std::span<const plan_request> models, const device_info& device) {
  const auto sufficient = smallest_budget(models) + device.reserve;
  const auto& largest = largest_in(models);
  const auto text =
      fmt::format("the workload does not fit device {} with memory = {}: {}; the smallest sufficient memory of every "
                  "device is {}. {} memory, use more micro_batches, {}or make the largest layer smaller.{}",
                  device.name, named_bytes(device.memory), largest_of(largest).text, named_bytes(sufficient),
                  step_advice(models), piece_advice(largest), model_lines(models, device.reserve));
  throw memory_refusal({fault_code::does_not_fit, text}, sufficient);
}

void refuse_joining(const plan_request& m, const device_info& device, byte_count staging_bytes) {
  const auto usable = device.usable();
  const auto left = usable > staging_bytes ? usable - staging_bytes : byte_count{};
  throw fault_error(
      fault_code::does_not_fit,
      fmt::format("model '{}' cannot join the run: {}, but of device {} with memory = {} the run keeps {} "
                  "for staging, which leaves {} to compute; use more micro_batches, {}make its largest layer "
                  "smaller, or train it in a run of its own",
                  m.name, largest_of(m).text, device.name, named_bytes(device.memory), named_bytes(staging_bytes),
                  named_bytes(left), piece_advice(m)));
}

}  // namespace hydra
