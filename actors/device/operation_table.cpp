#include "actors/device/operation_table.hpp"

#include "actors/device/visit_record.hpp"

#include <algorithm>
#include <utility>

namespace hydra {

queue_kind queue_of(operation_kind kind) noexcept {
  switch (kind) {
    case operation_kind::compute:
    case operation_kind::step:
      return queue_kind::compute;
    case operation_kind::promote:
      return queue_kind::h2d;
    default:
      return queue_kind::d2h;
  }
}

ticket operation_table::submit(operation op, std::span<const ticket> after, operation_record record) {
  record.bytes = op.bytes;
  record.label = op.label;
  ++record.owner->outstanding;
  const auto t = machine_.submit(queue_of(record.kind), std::move(op), after);
  pending_.emplace(t.value, std::move(record));
  return t;
}

std::optional<operation_record> operation_table::take(ticket completed) {
  auto found = pending_.extract(completed.value);
  if (found.empty()) {
    return std::nullopt;
  }
  --found.mapped().owner->outstanding;
  return std::move(found.mapped());
}

bool operation_table::all_done(std::span<const ticket> tickets) const {
  return std::ranges::all_of(tickets, [this](ticket t) { return done(t); });
}

}  // namespace hydra
