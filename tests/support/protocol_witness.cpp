#include "tests/support/protocol_witness.hpp"

#include "actors/simulation/simulated_device.hpp"
#include "tests/support/step_graph.hpp"

#include <caf/system_messages.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace hydra::test {

protocol_witness::protocol_witness(simulation& s, const witness_options& options)
    : options_(options), devices_(s.actors().devices.size()), models_(s.actors().tasks.size()) {
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    devices_[i].slots = options.pipeline.slots_in(s.device_at(i).info().usable());
  }
}

void protocol_witness::complain(std::string what) {
  if (complaint_.empty()) {
    complaint_ = std::move(what);
  }
}

void protocol_witness::notify(const overheard& m) {
  switch (m.to.part) {
    case role::scheduler:
      return at_scheduler(m);
    case role::device:
      return at_device(m);
    case role::memory:
      return at_memory(m);
    case role::task:
      return at_task(m);
    case role::supervisor:
      if (m.get<caf::down_msg>() && m.from.part == role::device) {
        devices_[m.from.place].dead = true;
      }
      return;
    default:
      return;
  }
}

protocol_witness::model_page& protocol_witness::page_of(std::size_t model) {
  models_.resize(std::max(models_.size(), model + 1));
  return models_[model];
}

// -- messages ---------------------------------------------------------------------------------------------------------

void protocol_witness::at_scheduler(const overheard& m) {
  if (const auto* freed = m.get<device_freed>()) {
    on_freed(*freed);
  } else if (const auto* ready = m.get<unit_ready>()) {
    on_announced(*ready);
  } else if (const auto* completed = m.get<shard_completed>()) {
    on_completed(*completed);
  } else if (const auto* failed = m.get<shard_failed>()) {
    failed_.push_back(failed->what);
  } else if (const auto* lost = m.get<device_lost>()) {
    on_lost(lost->device);
  } else if (const auto* left = m.get<model_left>()) {
    for (auto& lane : page_of(left->model.value).lanes) {
      lane.second.announced.reset();
    }
  }
}

void protocol_witness::at_device(const overheard& m) {
  if (const auto* staged = m.get<prefetch_shard>()) {
    on_staged(staged->what, m.to.place);
  } else if (m.get<lease_refused>() && options_.untroubled) {
    complain(to_string(m.to) + " is refused a lease: " + m.get<lease_refused>()->why.text);
  }
}

void protocol_witness::at_memory(const overheard& m) {
  if (const auto* demoted = m.get<shard_demoted>()) {
    ++devices_[demoted->device.value].ended;
  } else if (const auto* failed = m.get<shard_failed>()) {
    ++devices_[failed->device.value].ended;
  }
}

void protocol_witness::at_task(const overheard& m) {
  auto& page = page_of(m.to.place);
  if (const auto* updated = m.get<shard_updated>()) {
    page.versions.resize(std::max<std::size_t>(page.versions.size(), updated->shard.value + 1));
    page.versions[updated->shard.value] = updated->version.value;
  } else if (const auto* batch = m.get<batch_ready>()) {
    page.batches.insert(batch->range);
  } else if (const auto* acknowledged = m.get<step_acknowledged>()) {
    page.acknowledged = acknowledged->step.value + 1;
  } else if (const auto* lost = m.get<unit_lost>()) {
    auto& lane = page.lane_of(lost->what);
    lane.flights.erase(lost->what);
    lane.least_attempt = std::max(lane.least_attempt, lost->next_attempt);
    if (lane.announced && lane.announced->attempt < lane.least_attempt) {
      lane.announced.reset();  // void
    }
  }
}

// -- rules ------------------------------------------------------------------------------------------------------------

/// After the unit on whose device its version is computed; with trouble, that one may be lost by now.
bool protocol_witness::follows_its_maker(model_page& page, const unit_ready& m) const {
  const auto& lane = page.lane_of(m.what);
  const auto is_last = [](const unit& u) { return u.way == direction::backward && u.shard.value == 0; };
  const auto makes = [&](const unit& u) { return is_last(u) && u.step.next() == m.what.step; };
  const bool first = m.what.shard.value == 0 && m.what.way != direction::backward;
  const bool only = m.what.shard.value == 0 && page.versions.size() <= 1;   // of a model in one shard
  return m.after && (first || only) &&
         (!options_.untroubled || (lane.announced && makes(*lane.announced)) ||
          std::ranges::any_of(lane.flights, makes));
}

void protocol_witness::on_announced(const unit_ready& m) {
  auto& page = page_of(m.what.model.value);
  const auto shard = m.what.shard.value;
  const auto version = shard < page.versions.size() ? page.versions[shard] : 0;
  if (version != m.what.step.value && !follows_its_maker(page, m)) {
    complain(fmt::format("{} is announced, but version {} is in host memory", to_string(m.what), version));
  }
  const auto read = [&](const batch_range& range) { return range == batch_of(m.what, range.micro_batches); };
  if (std::ranges::none_of(page.batches, read)) {
    complain(to_string(m.what) + " is announced before its minibatch is in host memory");
  }
  if (options_.observed && page.acknowledged < m.what.step.value) {
    complain(to_string(m.what) + " is announced before the last step is acknowledged");
  }
  if (m.what.attempt > 0 && options_.untroubled) {
    complain(to_string(m.what) + " is tried again, but nothing has failed");
  }
  auto& lane = page.lane_of(m.what);
  const bool is_void = m.what.attempt < lane.least_attempt;
  if (!is_void && (!lane.announced || lane.announced->attempt <= m.what.attempt)) {
    lane.announced = m.what;
    lane.avoids = m.avoid;
    lane.after = m.after;
  }
}

void protocol_witness::on_freed(const device_freed& m) {
  auto& page = devices_[m.device.value];
  page.credits += m.credits;
  if (page.credits > page.slots + page.staged) {
    complain(
        fmt::format("device {} has returned {} credits for {} units", m.device.value, page.credits, page.staged));
  }
}

void protocol_witness::on_completed(const shard_completed& m) {
  if (devices_[m.device.value].lost) {
    complain(to_string(m.what) + " completes on a device that was lost before");
  }
  for (const auto& f : failed_) {
    if (same_lane(f, m.what) && m.what.attempt <= f.attempt && !visited_before(m.what, f)) {
      complain(fmt::format("{} completes although {} failed before", to_string(m.what), to_string(f)));
    }
  }
  page_of(m.what.model.value).lane_of(m.what).flights.erase(m.what);
}

void protocol_witness::on_staged(const unit& u, std::size_t device) {
  ++devices_[device].staged;
  auto& lane = page_of(u.model.value).lane_of(u);
  if (!staged_.insert(u).second) {
    complain(to_string(u) + " is staged twice");
  }
  if (lane.announced == u) {
    lane.announced.reset();
  }
  lane.flights.insert(u);
}

/// Also without the death of its actor: a device may be declared lost.
void protocol_witness::on_lost(device_id device) { devices_[device.value].lost = true; }

bool protocol_witness::has_room_for(const std::vector<device_id>& avoided) const {
  std::vector<device_id> alive, may;
  for (std::uint32_t i = 0; i < devices_.size(); ++i) {
    if (!devices_[i].dead && !devices_[i].lost) {
      alive.emplace_back(i);
    }
  }
  const auto is_avoided = [&](device_id d) { return std::ranges::find(avoided, d) != avoided.end(); };
  std::ranges::remove_copy_if(alive, std::back_inserter(may), is_avoided);
  if (may.empty() && alive.size() > 1) {
    std::ranges::remove_copy(alive, std::back_inserter(may), avoided.back());
  }
  return std::ranges::any_of(may.empty() ? alive : may, [this](device_id d) {
    return devices_[d.value].credits > devices_[d.value].staged;
  });
}

/// The visit of the wave before is in flight on the device to which the announced unit is bound.
bool protocol_witness::awaits_sum(const model_page& page, const lane_page& lane) const {
  const auto& u = *lane.announced;
  const auto before = u.wave.value == 0 ? page.lanes.end() : page.lanes.find({u.replica, wave_index{u.wave.value - 1}});
  const auto sum = [&](const unit& f) { return adds_to_sum_of(u, f); };
  return lane.after && before != page.lanes.end() && std::ranges::any_of(before->second.flights, sum);
}

void protocol_witness::rest() {
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    const auto& d = devices_[i];
    if (d.dead || d.lost) {
      continue;
    }
    if (d.ended == d.staged && d.credits != d.slots + d.staged) {
      complain(fmt::format("device {} holds no unit, but {} of its {} credits", i,
                           d.slots + d.staged - d.credits, d.slots));
    }
  }
  for (const auto& m : models_) {
    for (const auto& [id, lane] : m.lanes) {
      if (options_.works_always && lane.announced && lane.flights.empty() && !awaits_sum(m, lane) &&
          has_room_for(lane.avoids)) {
        complain(to_string(*lane.announced) + " waits although a device has credit");
      }
    }
  }
}

}  // namespace hydra::test
