#include "actors/device/pipeline_accounting.hpp"

#include <algorithm>
#include <utility>

namespace hydra {

namespace {

const char* name_of(queue_kind queue) noexcept {
  constexpr const char* names[] = {"compute", "h2d", "d2h"};
  return names[static_cast<std::size_t>(queue)];
}

void add(std::optional<duration>& sum, duration took) { sum = sum.value_or(duration{}) + took; }

}  // namespace

void pipeline_accounting::completed(const operation_record& op, const completion& c) {
  if (c.error.code == fault_code::dependency_failed || c.error.code == fault_code::cancelled) {
    return;  // it never ran
  }
  switch (queue_of(op.kind)) {
    case queue_kind::compute:
      counters_.busy += c.end - c.begin;
      op.owner->times.compute += c.end - c.begin;
      break;
    case queue_kind::h2d:
      count_copy_in(op, c);
      break;
    case queue_kind::d2h:
      count_copy_out(op, c);
      break;
  }
  record_span(op, c);
}

void pipeline_accounting::count_copy_in(const operation_record& op, const completion& c) {
  if (op.use.role == block_role::parameters) {
    add(op.owner->times.promote, c.end - c.begin);
  }
  if (op.use.role == block_role::base) {
    add(op.owner->times.promote_base, c.end - c.begin);
  }
  counters_.h2d_bytes += op.bytes;
  copies_in_.push_back({c.begin, c.end});
  op.owner->waits.last_copy_in = c.end;
}

void pipeline_accounting::count_copy_out(const operation_record& op, const completion& c) {
  if (op.use.role == block_role::sum) {
    add(op.owner->times.demote, c.end - c.begin);
  }
  counters_.d2h_bytes += op.bytes;
  copies_out_.push_back({c.begin, c.end});
}

void pipeline_accounting::record_span(const operation_record& op, const completion& c) const {
  if (spans_) {
    const auto track = machine_.info().name + " " + name_of(queue_of(op.kind));
    spans_->record({op.label.name, track, c.begin, c.end, op.label.detail});
  }
}

void pipeline_accounting::computed(const operation_record& op, const completion& c) {
  auto& v = *op.owner;
  expose(v, c.begin);
  if (op.kind == operation_kind::compute && v.recomputes()) {
    ++(v.batches[op.batch].spared ? counters_.saved : counters_.recomputed);
  }
  if (op.kind == operation_kind::compute && op.batch == 0) {
    v.times.begin = c.begin;
    v.times.idle_since = last_compute_end_;
  }
  v.times.end = c.end;
  last_compute_end_ = c.end;
}

/// The part of the idle time before a computation that is due to copies: copies in until the unit's last one had ended
/// (others may have been before it in the queue), and copies out that it had to wait for.
void pipeline_accounting::expose(visit_record& v, time_point begin) {
  auto& times = v.times;
  const auto from = std::max(last_compute_end_.value_or(times.placed), times.placed);
  auto copies = std::exchange(copies_in_, {});
  const auto last = v.waits.last_copy_in;
  std::erase_if(copies, [&](const copy_interval& c) { return !last || c.begin >= *last; });
  const auto inward = covered(copies, from, begin);
  const auto outward = std::exchange(copies_out_, {});
  if (v.waits.for_copies_out) {
    copies.insert(copies.end(), outward.begin(), outward.end());
  }
  const auto both = covered(std::move(copies), from, begin);
  times.exposed_h2d += inward;
  times.exposed_d2h += both - inward;
  counters_.exposed_transfer += both;
}

/// Time within [begin, end) that at least one of the copies covers.
duration pipeline_accounting::covered(std::vector<copy_interval> copies, time_point begin, time_point end) {
  std::ranges::sort(copies, {}, &copy_interval::begin);
  duration sum{};
  for (const auto& copy : copies) {
    const auto from = std::max(copy.begin, begin);
    const auto to = std::min(copy.end, end);
    sum += to > from ? to - from : duration{};
    begin = std::max(begin, to);
  }
  return sum;
}

}  // namespace hydra
