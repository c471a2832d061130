#include "actors/policy/rollout.hpp"

#include "actors/policy/speed.hpp"

#include <algorithm>
#include <limits>

namespace hydra {

namespace {

constexpr double most_pieces = 32;   // of a model

/// splitmix64.
std::uint64_t draw(std::uint64_t& state) {
  auto x = state += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

}  // namespace

std::optional<std::size_t> rollout::choose(const device_state& device, std::span<const candidate> candidates,
                                           const policy_view& view) {
  if (candidates.size() == 1) {
    return 0;
  }
  look(view);
  std::size_t best = 0;
  auto best_end = std::numeric_limits<double>::infinity();
  const auto rounds = std::max<std::size_t>(1, samples_ / candidates.size());
  for (std::size_t round = 0; round < rounds; ++round) {
    const auto seed = draw(state_);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      machines_ = machines_now_;
      jobs_ = jobs_now_;
      const auto end = complete(seed, first_move(device, candidates[i], view));
      if (end < best_end) {
        best = i;
        best_end = end;
      }
    }
  }
  return best;
}

void rollout::look(const policy_view& view) {
  machines_now_.clear();
  jobs_now_.clear();
  for (const auto& d : view.devices) {
    machines_now_.push_back({.free = nanoseconds(view.until_free(d) + d.staged), .speed = d.speed});
  }
  for (const auto& m : view.models) {
    job j{.ready = nanoseconds(m.staged), .left = nanoseconds(m.remaining), .piece = 0};
    for (const auto& d : view.devices) {
      j.ready += m.running == d.device ? nanoseconds(view.until_free(d)) : 0;
    }
    j.piece = std::max({nanoseconds(m.next_cost), j.left / most_pieces, 1.0});
    jobs_now_.push_back(j);
  }
}

/// Returns its end.
double rollout::first_move(const device_state& device, const candidate& c, const policy_view& view) {
  auto& m = machines_.at(static_cast<std::size_t>(
      std::ranges::find(view.devices, device.device, &device_state::device) - view.devices.begin()));
  auto& j = jobs_.at(c.model_at);
  m.free = j.ready = std::max({m.free, j.ready, nanoseconds(c.transfer_time)}) + nanoseconds(c.cost) / m.speed;
  j.left -= nanoseconds(c.cost);
  return m.free;
}

/// The end of all models, if the placed unit ends at `end`.
double rollout::complete(std::uint64_t seed, double end) {
  for (;;) {
    auto& m = *std::ranges::min_element(machines_, {}, &machine::free);
    const auto chosen = next_job(m.free, seed);
    if (chosen == jobs_.size()) {
      return end;
    }
    auto& j = jobs_[chosen];
    const auto piece = std::min(j.piece, j.left);
    m.free = j.ready = std::max(m.free, j.ready) + piece / m.speed;
    j.left -= piece;
    end = std::max(end, m.free);
  }
}

/// The longest that is ready, or any; if none is ready, the first that will be; none if no work is left.
std::size_t rollout::next_job(double at, std::uint64_t& random) const {
  constexpr std::uint64_t one_in = 4;
  if (draw(random) % one_in == 0) {
    if (const auto any = any_ready(at, random); any < jobs_.size()) {
      return any;
    }
  }
  auto best = jobs_.size();
  const auto better = [&](const job& a, const job& b) {
    const auto x = std::max(at, a.ready);
    const auto y = std::max(at, b.ready);
    return x != y ? x < y : a.left > b.left;
  };
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    if (jobs_[i].left > 0 && (best == jobs_.size() || better(jobs_[i], jobs_[best]))) {
      best = i;
    }
  }
  return best;
}

/// The first one from a random position on that is ready and has work left; none if there is none.
std::size_t rollout::any_ready(double at, std::uint64_t& random) const {
  const auto from = jobs_.empty() ? 0 : draw(random) % jobs_.size();
  for (std::size_t k = 0; k < jobs_.size(); ++k) {
    const auto i = (from + k) % jobs_.size();
    if (jobs_[i].left > 0 && jobs_[i].ready <= at) {
      return i;
    }
  }
  return jobs_.size();
}

}  // namespace hydra
