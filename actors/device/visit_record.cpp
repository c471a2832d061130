#include "actors/device/visit_record.hpp"

#include "partition/graph/dataflow.hpp"

#include <fmt/format.h>

#include <cstddef>

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

}  // namespace

const char* to_string(visit_phase phase) noexcept {
  constexpr const char* names[] = {"claiming", "leasing", "staged", "running", "write-back", "ended"};
  return names[static_cast<std::size_t>(phase)];
}

visit_record::visit_record(const unit& u) : what(u), batches(u.micro_batches) {}

std::string visit_record::detail() const {
  return fmt::format("{} {} {} step {}", model->name, to_string(what.way), what.shard.value, what.step.value);
}

staged_block& visit_record::slot_of(const block_id& id, std::size_t k) {
  if (id.kind == block_kind::parameters) {
    return parameters;
  }
  if (id.kind == block_kind::base) {
    return base;
  }
  if (id.kind == block_kind::gradients) {
    return sum;
  }
  if (id.kind == block_kind::state) {
    return stepping.state[id.micro_batch.value];
  }
  const auto in = inputs_of(what, model->plan.shape(), index_of(k));
  return in.input == id ? batches[k].input : batches[k].second;
}

void visit_record::release() {
  working.reset();
  outputs.clear();
  batches.clear();
  base = {};
  parameters = {};
  results = {};
  sum = {};
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
