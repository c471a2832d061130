#include "actors/policy/several_lanes.hpp"

#include "actors/policy/interleaved_order.hpp"
#include "actors/policy/longest_first.hpp"

#include <algorithm>
#include <ranges>
#include <tuple>

namespace hydra {

namespace {

/// A device with so many units that are being written back, or so many more than another device, writes back enough.
constexpr std::size_t write_backs_enough = 3;

bool is_written_back(const model_state& lane) { return lane.flights > lane.staged_units + (lane.running ? 1 : 0); }

}  // namespace

bool several_lanes::in(const policy_view& view) {
  return std::ranges::any_of(view.models, [](const model_state& m) { return m.lane > 0; });
}

bool several_lanes::share_base(std::span<const candidate> candidates) {
  return std::ranges::any_of(candidates, [&](const candidate& c) {
    return c.base && std::ranges::any_of(candidates, [&](const candidate& other) {
      return other.base == c.base && other.next.model != c.next.model;
    });
  });
}

std::optional<std::size_t> several_lanes::choose(const device_state& device, std::span<const candidate> candidates,
                                                 const policy_view& view) {
  count(view);
  const auto own = device.last;
  const auto key = [&](const candidate& c) {
    return std::tuple{!is_pipeline(c, view), adds_write_back(c, device, view), load_rank(c, view), -path(c, view),
                      is_piece(c, view) && !c.hit, c.next.model != own};
  };
  // Of equals the first one, as sharded-lrtf; of few lanes the last one: another one than that chosen before.
  const auto better = [&](const candidate& a, const candidate& b) {
    return crowded(view) ? key(a) < key(b) : key(a) <= key(b);
  };
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!waits(candidates[i], device, view) && (!best || better(candidates[i], candidates[*best]))) {
      best = i;
    }
  }
  return best;
}

bool several_lanes::is_piece(const candidate& c, const policy_view& view) {
  return view.models[c.model_at].shape.abreast > 1;
}

bool several_lanes::belongs_elsewhere(const candidate& c, const policy_view& view) const {
  return c.elsewhere && !c.hit && !c.chained && !avoids(c, *c.elsewhere) && !refuses(*c.elsewhere, c, view) &&
         std::ranges::any_of(view.devices, [&](const device_state& d) {
           return d.device == *c.elsewhere && d.idle && d.staged == duration{} && d.has_slot;
         });
}

/// The longest shard's backward visits of later waves follow each other. Where units move between devices only when
/// they are written back, lanes go on where they are, side by side.
duration several_lanes::path(const candidate& c, const policy_view& view) const {
  const bool side_by_side = crowded(view) || (waits_for_copies_ && !is_pipeline(c, view));
  const auto later_waves = side_by_side ? 0 : view.models[c.model_at].shape.waves - 1 - c.next.wave.value;
  return c.remaining + times_.of(c.next.model).longest_backward * later_waves;
}

void several_lanes::count(const policy_view& view) {
  replicas_before_.clear();
  write_backs_.clear();
  replicas_ = 0;
  for (const auto& m : view.models) {
    const bool written_back = is_written_back(m);
    waits_for_copies_ = waits_for_copies_ || written_back;
    if (written_back && m.ended) {
      ++write_backs_[*m.ended];
    }
    if (m.lane == 0) {
      replicas_before_[m.model] = replicas_;
      replicas_ += m.shape.replicas;
    }
  }
  const auto of_device = [this](const device_state& d) { return write_backs(d.device); };
  least_write_backs_ = std::ranges::min(view.devices | std::views::transform(of_device));
}

bool several_lanes::crowded(const policy_view& view) const {
  return view.models.size() > view.devices.size() && replicas_before_.size() > 1;
}

bool several_lanes::is_pipeline(const candidate& c, const policy_view& view) const {
  const auto& shape = view.models[c.model_at].shape;
  const auto& t = times_.of(c.next.model);
  const bool several = shape.visits() > 1 && shape.lanes_alike();  // pieces of a layer are for several devices
  const bool fits = view.devices.size() >= (shape.waves > 1 ? replicas_ : 2 * replicas_);
  const bool slow = t.loads_slowly();
  const bool moves = waits_for_copies_ && view.models.size() > view.devices.size();  // else a device for each lane
  const bool pays = shape.waves > 1 ? slow || moves : slow && t.backward_loads > t.backward && !waits_for_copies_;
  return several && fits && pays && c.next.way != direction::evaluate;
}

stages several_lanes::own_stages(const candidate& c, const policy_view& view) const {
  const auto from = [&](std::size_t replica) { return replica * view.devices.size() / replicas_; };
  const auto& shape = view.models[c.model_at].shape;
  const auto replica = replicas_before_.at(c.next.model) + c.next.replica.value;
  return {shape.shards, shape.waves > 1 ? dealing::round_robin : dealing::groups,
          {.offset = from(replica), .count = from(replica + 1) - from(replica)}};
}

bool several_lanes::waits(const candidate& c, const device_state& device, const policy_view& view) const {
  if (!view.models[c.model_at].shape.lanes_alike() && c.landing && !device.idle) {
    return true;
  }
  if (is_piece(c, view) && belongs_elsewhere(c, view)) {
    return true;
  }
  if (!is_pipeline(c, view)) {
    return refuses(device.device, c, view);
  }
  const auto dealt = own_stages(c, view);
  if (dealt.device_of(c, view) != device.device) {
    return true;
  }
  const auto& shape = view.models[c.model_at].shape;
  const auto group = std::max(dealt.count(), shape.waves);
  const interleaved_order order(shape, dealt.count(), dealt.stage_of(c.next.shard), group);
  const bool ordered = shape.waves > 1 && dealt.count() < shape.shards;  // with a shard each, none is in the way
  return ordered && !order.in_turn(c.next, waves_of(c, view));
}

bool several_lanes::refuses(device_id device, const candidate& c, const policy_view& view) const {
  return writes_slowly(c, view) && write_backs(device) >= least_write_backs_ + write_backs_enough;
}

/// Its gradients take a link as long as its parameters.
bool several_lanes::writes_slowly(const candidate& c, const policy_view& view) const {
  return c.next.way == direction::backward && crowded(view) && times_.of(c.next.model).loads_slowly();
}

bool several_lanes::adds_write_back(const candidate& c, const device_state& device, const policy_view& view) const {
  return writes_slowly(c, view) && write_backs(device.device) >= write_backs_enough;
}

std::size_t several_lanes::write_backs(device_id device) const {
  const auto found = write_backs_.find(device);
  return found == write_backs_.end() ? 0 : found->second;
}

std::uint8_t several_lanes::load_rank(const candidate& c, const policy_view& view) const {
  if (c.hit || !times_.of(c.next.model).loads_slowly()) {
    return 0;
  }
  return crowded(view) && c.elsewhere && !c.chained ? 2 : 1;
}

}  // namespace hydra
