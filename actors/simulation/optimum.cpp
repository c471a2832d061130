#include "actors/simulation/optimum.hpp"

#include "actors/simulation/small_schedule.hpp"
#include "runtime/base/counted.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/portable_random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace hydra {

namespace {

/// When each state was reached first. Where there is no room for all, newer ones replace others: a state that is
/// forgotten is searched again.
class seen_states {
 public:
  explicit seen_states(std::uint64_t most) : most_(std::bit_floor(std::max<std::uint64_t>(most, 1))) {}

  /// It was reached at that time or sooner. Else it is now.
  bool reached(const small_schedule::key& state, duration at) {
    if (count_ * 2 >= places_.size() && places_.size() < most_) {
      grow();
    }
    auto& p = places_[place_of(state)];
    if (p.at >= duration{} && p.state == state && p.at <= at) {
      return true;
    }
    count_ += p.at < duration{} ? 1 : 0;
    p = {state, at};
    return false;
  }

 private:
  struct place {
    small_schedule::key state;
    duration at{-1};             ///< negative: empty
  };

  /// Of the state, else an empty one or that of another state.
  std::size_t place_of(const small_schedule::key& state) const {
    constexpr std::size_t tries = 8;
    const auto first = static_cast<std::size_t>(state.first);
    for (std::size_t i = 0; i < tries; ++i) {
      const auto at = (first + i) & (places_.size() - 1);
      if (places_[at].at < duration{} || places_[at].state == state) {
        return at;
      }
    }
    return (first + state.second % tries) & (places_.size() - 1);
  }

  void grow() {
    const auto before = std::exchange(places_, std::vector<place>(places_.size() * 2));
    count_ = 0;
    for (const auto& p : before) {
      if (p.at >= duration{}) {
        auto& to = places_[place_of(p.state)];
        count_ += to.at < duration{} ? 1 : 0;
        to = p;
      }
    }
  }

  std::uint64_t most_;
  std::vector<place> places_{std::vector<place>(1024)};
  std::uint64_t count_ = 0;
};

/// Depth first, the model with the longest remaining time first, "nothing" last. What cannot be better than the best
/// schedule so far is left out, and a state that was reached as soon before.
class optimum_search {
 public:
  optimum_search(const small_instance& instance, const optimum_options& options)
      : instance_(instance), options_(options), seen_(options.most_states) {}

  optimum run() {
    const small_schedule start(instance_);
    least_ = start.bound();
    try_some(start);
    search(start);
    best_.proven = best_.nodes < options_.most_nodes;
    return std::move(best_);
  }

 private:
  /// Random schedules, of which some hold more often: a good one lets the search leave out more.
  void try_some(const small_schedule& start) {
    constexpr int runs = 3000;
    constexpr double shares[]{0, 0.15, 0.4};
    portable_random random(1);
    for (int n = 0; n < runs && best_.makespan > least_; ++n) {
      auto s = start;
      while (const auto device = s.next(models_)) {
        if (random.share() < shares[n % 3] && s.may_hold()) {
          s.hold();
        } else {
          take(s, *device, models_[random.whole(0, static_cast<std::uint32_t>(models_.size()) - 1)]);
        }
      }
      keep_if_better(s);
      path_.clear();
    }
  }

  void search(small_schedule s) {
    if (best_.makespan <= least_ || best_.nodes >= options_.most_nodes) {
      return;
    }
    const auto device = s.next(models_);
    if (!device) {
      keep_if_better(s);
      return;
    }
    ++best_.nodes;
    if (s.bound() >= best_.makespan || seen_.reached(s.state(), s.now())) {
      return;
    }
    auto models = models_;
    std::ranges::stable_sort(models, std::greater{}, [&](std::uint32_t m) { return s.remaining(m); });
    for (const auto m : models) {
      auto with = s;
      take(with, *device, m);
      search(std::move(with));
      path_.pop_back();
    }
    if (s.may_hold()) {
      s.hold();
      search(std::move(s));
    }
  }

  void take(small_schedule& s, std::uint32_t device, std::uint32_t model) {
    path_.push_back({s.now(), device, model});
    s.stage(model);
  }

  void keep_if_better(const small_schedule& s) {
    if (s.makespan() < best_.makespan) {
      best_.makespan = s.makespan();
      best_.decisions = path_;
    }
  }

  const small_instance& instance_;
  const optimum_options& options_;
  seen_states seen_;
  optimum best_{.makespan = duration::max(), .decisions = {}};
  duration least_{};
  std::vector<staging_decision> path_;
  std::vector<std::uint32_t> models_;   ///< of the question
};

class replayed final : public policy {
 public:
  explicit replayed(std::vector<staging_decision> decisions) : decisions_(std::move(decisions)) {}

  std::string name() const override { return "exact"; }

  std::optional<std::size_t> choose(const device_state& device, std::span<const candidate> candidates,
                                    const policy_view& view) override {
    const auto next = std::ranges::find(decisions_, device.device.value, &staging_decision::device);
    if (next == decisions_.end() || time_point{next->at} > view.now) {
      return std::nullopt;
    }
    const auto c = std::ranges::find_if(candidates, [&](const candidate& each) {
      return each.next.model.value == next->model;
    });
    if (c == candidates.end()) {
      return std::nullopt;
    }
    decisions_.erase(next);
    return static_cast<std::size_t>(c - candidates.begin());
  }

 private:
  std::vector<staging_decision> decisions_;   ///< still to come
};

}  // namespace

void require_searchable(const schedule_instance& instance) {
  if (const auto what = beyond_small_schedule(instance); !what.empty()) {
    throw fault_error(fault_code::bad_input,
                      fmt::format("exact: {} has {}; the search knows whole steps of models that train all their "
                                  "shards, on devices that stage one unit (depth = 1) and do not fail",
                                  instance.name, what));
  }
  if (const auto units = count_units(instance); units > most_units_searched) {
    throw fault_error(fault_code::bad_input,
                      fmt::format("exact: {} has {}; the search is for at most {}", instance.name,
                                  counted(units, "unit"), most_units_searched));
  }
}

optimum find_optimum(const schedule_instance& instance, const optimum_options& options) {
  validate(instance);
  require_searchable(instance);
  return optimum_search(small_instance(instance), options).run();
}

std::unique_ptr<policy> replay(std::vector<staging_decision> decisions) {
  return std::make_unique<replayed>(std::move(decisions));
}

}  // namespace hydra
