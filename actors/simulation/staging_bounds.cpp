#include "actors/simulation/staging_bounds.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hydra {

namespace {

/// `count` times the same, in ns.
struct several {
  double length = 0;
  double count = 0;
};

/// A backward visit: its shard is loaded once more, or a slot holds it since the forward visit.
struct visit_back {
  double load = 0;
  double held = 0;   ///< at least: the computing time of the units in between
  double count = 0;
};

/// Units and loads of an instance.
struct demand {
  bool drains = false;         ///< a slot is used until gradients are copied out
  std::vector<several> units{};
  std::vector<several> loads{};  ///< of new versions
  std::vector<visit_back> back{};
  double used = 0;             ///< slot time of units, of loads of new versions and of drains
};

double ns(duration t) { return static_cast<double>(t.count()); }

/// Of what one shard needs in each step.
void add_load(demand& d, const instance_model& m, const unit_times& times, std::size_t s, double between) {
  const auto load = ns(times.promote[s]);
  const double steps = times.steps;
  d.loads.push_back({load, steps});
  if (base_copy(m, s) > duration{}) {
    return;  // a base stays in its slot whatever the version, and the rest of the shard takes none
  }
  d.used += (load + (d.drains ? ns(times.demote[s]) : 0)) * steps;
  const bool visited_back = s + 1 < times.backward.size() && s >= times.first_trained;
  if (visited_back && times.replicas * times.waves == 1) {  // else a version may serve any lane
    d.back.push_back({load, between, steps});
  }
}

/// The last shard's forward visit is part of its backward visit; frozen shards have no backward visits.
void add(demand& d, const instance_model& m, const unit_times& times, double speed) {
  const auto units = static_cast<double>(times.replicas) * times.waves * times.steps;
  double between = 0;
  for (auto s = times.backward.size(); s-- > 0;) {
    const auto forward = s + 1 < times.backward.size() ? ns(times.forward[s]) / speed : 0;
    const auto backward = ns(times.backward[s]) / speed;  // 0: frozen
    for (const auto length : {forward, backward}) {
      d.units.push_back({length, units});
      d.used += length * units;
    }
    add_load(d, m, times, s, between);
    between += forward + backward;
  }
}

/// a + sum of b_k x_k
struct linear {
  double constant = 0;
  std::vector<double> factors;
};

/// Minimum of max(rising(x), falling(x)) over all x in [0, 1]^n; the factors are >= 0 and <= 0. At the minimum those
/// x_k are 1 by which `falling` falls the most for what `rising` rises.
double least_maximum(const linear& rising, const linear& falling) {
  struct change {
    double rise = 0;
    double fall = 0;
    double cost() const { return rise / fall; }
  };
  std::vector<change> changes;
  for (std::size_t k = 0; k < rising.factors.size(); ++k) {
    if (falling.factors[k] < 0) {
      changes.push_back({rising.factors[k], -falling.factors[k]});
    }
  }
  std::ranges::sort(changes, {}, &change::cost);
  auto up = rising.constant;
  auto down = falling.constant;
  for (const auto& c : changes) {
    const auto part = std::clamp((down - up) / (c.rise + c.fall), 0.0, 1.0);
    up += part * c.rise;
    down -= part * c.fall;
  }
  return std::max(up, down);
}

/// For two neighbours on a device that stages one unit besides the one that computes: the second one is staged when the
/// first one starts, or later. So their starts differ by at least max(p, w): computing time of the first, load of the
/// second. The first unit of a device waits for its own load, the last one computes. With P(t) units and W(t) loads
/// longer than t,
///
///   devices * makespan >= sum max(p, w) = sum of the integrals of [p > t or w > t] over t
///                      >= integral of max(P(t), W(t)) over t
///                      >= integral of P over the times outside T + integral of W over T, for each set T of times.
///
/// The last line is linear in x, the parts of backward visits that load.
class device_time {
 public:
  explicit device_time(const demand& d) : demand_(d) {
    for (const auto& each : d.units) {
      ends_.push_back(each.length);
    }
    for (const auto& each : d.loads) {
      ends_.push_back(each.length);
    }
    std::ranges::sort(ends_);
    ends_.erase(std::unique(ends_.begin(), ends_.end()), ends_.end());
    units_ = longer(d.units, &several::length);
    loads_ = longer(d.loads, &several::length);
    back_ = longer(d.back, &visit_back::load);
  }

  /// T: the times at which loads would outnumber units if that part of all backward visits loaded.
  linear with_loads(double part) const {
    double total = 0;
    std::vector<double> in_t;  // time in T up to each end
    double before = 0;
    double of_t = 0;
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      const auto took = ends_[i] - before;
      const bool in = loads_[i] + part * back_[i] > units_[i];
      total += took * (in ? loads_[i] : units_[i]);
      of_t += in ? took : 0;
      in_t.push_back(of_t);
      before = ends_[i];
    }
    linear sum{.constant = total, .factors = {}};
    for (const auto& b : demand_.back) {
      sum.factors.push_back(b.count * in_t[at(b.load)]);
    }
    return sum;
  }

 private:
  std::size_t at(double length) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(ends_, length) - ends_.begin());
  }

  /// How many last beyond the times from the end before to each end.
  template <class T>
  std::vector<double> longer(const std::vector<T>& all, double T::*length) const {
    std::vector<double> counts(ends_.size());
    for (const auto& each : all) {
      counts[at(each.*length)] += each.count;
    }
    for (auto i = counts.size(); i-- > 1;) {
      counts[i - 1] += counts[i];
    }
    return counts;
  }

  const demand& demand_;
  std::vector<double> ends_;
  std::vector<double> units_, loads_, back_;  ///< between the end before and each end
};

/// Devices * makespan, or links * makespan, at least.
std::vector<linear> times_of(const demand& d, const schedule_instance& given) {
  linear loads{.constant = 0, .factors = {}};
  for (const auto& each : d.loads) {
    loads.constant += each.length * each.count;
  }
  for (const auto& b : d.back) {
    loads.factors.push_back(b.load * b.count);
  }
  if (!given.prefetch) {  // loads and units take turns
    for (const auto& each : d.units) {
      loads.constant += each.length * each.count;
    }
    return {loads};
  }
  if (given.depth > 1) {
    return {loads};
  }
  constexpr int parts = 8;
  const device_time time(d);
  std::vector<linear> all;
  for (int part = 0; part <= parts; ++part) {
    all.push_back(time.with_loads(static_cast<double>(part) / parts));
  }
  return all;
}

/// Slots * makespan, at least: a slot is used by one unit, load or copy at a time, or holds a shard for a visit.
linear slot_time(const demand& d) {
  linear time{.constant = d.used, .factors = {}};
  for (const auto& b : d.back) {
    time.constant += b.held * b.count;
    time.factors.push_back(std::min(b.load - b.held, 0.0) * b.count);
  }
  return time;
}

linear divided(linear by_all, double n) {
  by_all.constant /= n;
  for (auto& f : by_all.factors) {
    f /= n;
  }
  return by_all;
}

duration rounded_down(double ns) { return duration{static_cast<std::int64_t>(ns)}; }

}  // namespace

staging_bounds staging_bounds_of(const schedule_instance& instance, std::span<const unit_times> times,
                                 completion_rule rule) {
  demand d{.drains = rule == completion_rule::ended};
  double fastest = 0;
  for (const auto& device : instance.devices) {
    fastest = std::max(fastest, device.speed);
  }
  for (std::size_t i = 0; i < times.size(); ++i) {
    add(d, instance.models[i], times[i], fastest);
  }
  const auto devices = static_cast<double>(instance.devices.size());
  const auto slots = divided(slot_time(d), devices * instance.slots);
  const auto all = times_of(d, instance);
  staging_bounds b;
  if (instance.depth == 1) {
    b.staged_work = rounded_down(all.front().constant / devices);
  }
  for (const auto& each : all) {
    b.slots = std::max(b.slots, rounded_down(least_maximum(divided(each, devices), slots)));
  }
  return b;
}

}  // namespace hydra
