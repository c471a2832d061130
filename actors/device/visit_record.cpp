#include "actors/device/visit_record.hpp"

#include "runtime/device/cpu/accounting_allocator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace hydra {

namespace {

/// Each phase follows the one before it, with two exceptions: a unit may fail in any phase, and the report of a
/// computation may come before those of the copies that it waited for, so that the unit was never seen running.
bool may_follow(visit_phase from, visit_phase to) noexcept {
  if (to == visit_phase::ended) {
    return from != visit_phase::ended;
  }
  return static_cast<int>(to) == static_cast<int>(from) + 1 ||
         (from == visit_phase::staged && to == visit_phase::write_back);
}

template <class Uses>
auto* of_role(Uses& uses, block_role role) {
  const auto found = std::ranges::find_if(uses, [&](const auto& in) { return in.use.role == role; });
  return found == uses.end() ? nullptr : &*found;
}

}  // namespace

const char* to_string(visit_phase phase) noexcept {
  constexpr const char* names[] = {"claiming", "leasing", "staged", "running", "write-back", "ended"};
  return names[static_cast<std::size_t>(phase)];
}

visit_record::visit_record(const unit& u) : what(u), batches(u.micro_batches) {}

std::string visit_record::detail() const {
  return fmt::format("{} {} {} step {}", model->name, to_string(what.way), what.shard.value, what.step.value);
}

void visit_record::begin(sharded_model_ptr of, std::size_t targets) {
  model = std::move(of);
  work = std::make_shared<visit>(model, what, targets);
  node = model->graphs->node_of(what);
  const auto& unit = graph().at(node);
  const auto first_of = [&](const block_use& use) {
    const auto first = graph().block(use.block).id.micro_batch.value;
    return std::size_t{first - std::min(first, unit.what.first_micro_batch.value)};
  };
  for (const auto& use : unit.reads) {
    inputs.push_back({use, std::vector<staged_block>(graph().block(use.block).parts), first_of(use)});
  }
  for (const auto& use : unit.writes) {
    if (graph().block(use.block).life != block_life::on_device) {
      outputs.push_back({use, std::vector<produced_block>(graph().block(use.block).parts), first_of(use)});
    }
  }
}

visit_input* visit_record::reads(block_role role) { return of_role(inputs, role); }
const visit_input* visit_record::reads(block_role role) const { return of_role(inputs, role); }

visit_output* visit_record::writes(block_role role) { return of_role(outputs, role); }
const visit_output* visit_record::writes(block_role role) const { return of_role(outputs, role); }

block_id visit_record::name(const block_use& use, std::size_t part) const {
  return graph().name({use.block, static_cast<std::uint32_t>(part)}, model_graphs::turn_of(what));
}

byte_count visit_record::room_of(const block_use& use) const {
  if (const auto& slot = model->plan.slot) {
    return decides_hit(use.role) ? *slot : byte_count{};
  }
  return charged_bytes(bytes_of(use));
}

byte_count visit_record::staging_bytes() const {
  byte_count sum;
  for (const auto& in : inputs) {
    const auto when = fetched(in.use.role);
    const bool first = when == fetch_time::with_claim || when == fetch_time::with_micro_batch;
    sum += first && in.covers(0) ? room_of(in.use) : byte_count{};
  }
  return sum;
}

bool visit_record::has(fetch_time when, std::size_t k) const {
  return std::ranges::all_of(inputs, [&](const visit_input& in) {
    return fetched(in.use.role) != when || !in.covers(k) || in.of(k).phase == fetch_phase::here;
  });
}

bool visit_record::lacks(std::size_t k) const {
  return std::ranges::any_of(inputs, [&](const visit_input& in) {
    return fetched(in.use.role) == fetch_time::with_micro_batch && in.covers(k) &&
           in.of(k).phase == fetch_phase::waiting;
  });
}

bool visit_record::waits_for(ticket t) const {
  const auto fills = [t](const staged_block& part) { return part.ready == t; };
  return std::ranges::find(start_after, t) != start_after.end() ||
         std::ranges::any_of(inputs, [&](const visit_input& in) { return std::ranges::any_of(in.parts, fills); });
}

void visit_record::let_go(fetch_time when, std::size_t k) {
  for (auto& in : inputs) {
    if (fetched(in.use.role) == when && in.covers(k)) {
      in.of(k).block.reset();
    }
  }
}

void visit_record::release() {
  working.reset();
  first_inputs.release();
  inputs.clear();
  outputs.clear();
  batches.clear();
  results = {};
  stepping = {};
  work.reset();
}

void visit_record::set_phase(visit_phase next) {
  if (!may_follow(phase_, next)) {
    throw fault_error(fault_code::internal,
                      fmt::format("{} cannot go from {} to {}", to_string(what), to_string(phase_), to_string(next)));
  }
  phase_ = next;
}

}  // namespace hydra
