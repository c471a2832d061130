// Random events for a device pipeline: in any order of events every unit ends once and nothing is left.

#include "tests/support/block_names.hpp"
#include "tests/support/depth.hpp"
#include "tests/support/pipeline_bench.hpp"
#include "tests/support/plain_cursor.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <random>
#include <set>

using namespace hydra;
using namespace hydra::test;

namespace {

using rng = std::mt19937;

std::uint32_t pick(rng& random, std::uint32_t from, std::uint32_t to) {
  return std::uniform_int_distribution<std::uint32_t>(from, to)(random);
}

/// One step of a model, or two if devices step its shards, and the state that a model task and the scheduler have of
/// it.
struct model_run {
  bench_model model;
  std::vector<unit> units;
  std::size_t next = 0;           ///< first unit that is not in flight
  std::deque<std::size_t> flights;
  std::uint32_t attempt = 0;
  bool done() const { return next == units.size() && flights.empty(); }
};

model_run make_run(rng& random, std::uint32_t id) {
  const auto working = pick(random, 1, 20);
  even_model m{.name = fmt::format("m{}", id),
               .id = id,
               .shards = pick(random, 1, 3),
               .micro_batches = pick(random, 1, 3),
               .parameters = byte_count{512 * pick(random, 1, 8)},
               .activation = byte_count{512 * pick(random, 0, 3)},
               .working = byte_count{512 * working},
               .write_back = byte_count{512 * pick(random, 0, working)},
               .saved = byte_count{512 * pick(random, 0, 8)},
               .steps = pick(random, 0, 2) == 0};
  const std::uint32_t steps = m.steps ? 2 : 1;
  model_run r{.model = bench_model(m), .units = {}, .flights = {}};
  r.units = units_in_order(
      plain_cursor(model_id{id}, {.shards = m.shards, .micro_batches = m.micro_batches}, steps));
  return r;
}

byte_count sufficient(const std::vector<model_run>& runs) {
  byte_count computing, staging;
  for (const auto& r : runs) {
    for (const auto& s : r.model.what()->plan.shards) {
      computing = std::max({computing, s.forward.computing(), s.backward.computing()});
      staging = std::max({staging, s.forward.staging(), s.backward.staging()});
    }
  }
  return computing + staging;
}

/// Scheduler, model tasks and memory manager of one device, in one class, with random choices.
class random_run {
 public:
  random_run(std::uint32_t seed, bool with_mishaps)
      : random_(seed), mishaps_(with_mishaps ? pick(random_, 1, 12) : 0) {
    for (std::uint32_t i = 0, n = pick(random_, 1, 4); i < n; ++i) {
      runs_.push_back(make_run(random_, i));
    }
    const auto most = pick(random_, 1, 8);
    const auto space = sufficient(runs_) + byte_count{512 * pick(random_, 0, 1) * pick(random_, 0, 60)};
    const pipeline_options options{.slots = most,
                                   .double_buffer = pick(random_, 0, 3) > 0,
                                   .cache = pick(random_, 0, 3) > 0,
                                   .staging_bytes = byte_count{512 * pick(random_, 0, 10)},
                                   .computing_bytes = byte_count{512 * pick(random_, 0, 40)}};
    slots_ = options.slots_in(space);
    bench_ = std::make_unique<pipeline_bench>(space, options);
    bench_->pipeline.start();
  }

  /// Empty, or the error.
  std::string run() {
    while (!std::ranges::all_of(runs_, &model_run::done) || !orders_.empty() || bench_->pipeline.visits() > 0) {
      if (!act()) {
        return "nothing can happen any more:\n" + bench_->pipeline.describe();
      }
      if (auto wrong = observe(); !wrong.empty()) {
        return wrong;
      }
    }
    return check_end();
  }

 private:
  using action = std::function<void()>;

  /// Does one of the events that are possible now. False if there is none.
  bool act() {
    std::vector<action> actions;
    for (const auto t : bench_->machine.ready()) {
      actions.emplace_back([this, t] { bench_->machine.finish(t, mishap() ? some_fault() : fault{}); });
    }
    for (const auto queue : {queue_kind::h2d, queue_kind::compute, queue_kind::d2h}) {
      if (bench_->machine.has_report(queue)) {
        actions.emplace_back([this, queue] { bench_->machine.report(queue); });
      }
    }
    for (const auto& q : bench_->port.questions) {
      if (!q.answered) {
        actions.emplace_back(
            [this, u = q.what] { mishap() ? bench_->refuse(u, fault_code::refused) : bench_->grant(u); });
      }
    }
    for (std::size_t i = 0; i < orders_.size(); ++i) {
      if (first_of_its_model(i)) {
        actions.emplace_back([this, i] { send_order(i); });
      }
    }
    for (auto& r : runs_) {
      if (credits() > 0 && r.next < r.units.size()) {
        actions.emplace_back([this, &r] { place(r); });
      }
      if (mishaps_ > 0 && !r.flights.empty() && pick(random_, 0, 30) == 0) {
        actions.emplace_back([this, &r] { withdraw_some(r); });
      }
    }
    if (actions.empty()) {
      return false;
    }
    actions[pick(random_, 0, static_cast<std::uint32_t>(actions.size() - 1))]();
    return true;
  }

  bool mishap() {
    if (mishaps_ == 0 || pick(random_, 0, 25) > 0) {
      return false;
    }
    --mishaps_;
    return true;
  }

  fault some_fault() {
    return {pick(random_, 0, 1) == 0 ? fault_code::out_of_memory : fault_code::internal, "by the dice"};
  }

  std::uint32_t credits() const { return bench_->port.credits() - placed_; }

  void place(model_run& r) {
    auto u = r.units[r.next];
    u.attempt = r.attempt;
    r.units[r.next] = u;
    r.flights.push_back(r.next++);
    ++placed_;
    orders_.push_back({u, r.model.what()});
    if (pick(random_, 0, 1) == 0) {
      while (!orders_.empty()) {  // faster than the scheduler's message
        send_order(0);
      }
    }
    all_.push_back(u);
    bench_->pipeline.prefetch(u);
  }

  /// execute_shard messages of one model come from one sender, in order.
  bool first_of_its_model(std::size_t i) const {
    const auto model = orders_[i].first.model;
    return std::none_of(orders_.begin(), orders_.begin() + static_cast<std::ptrdiff_t>(i),
                        [&](const auto& o) { return o.first.model == model; });
  }

  void send_order(std::size_t i) {
    const auto [u, what] = orders_[i];
    orders_.erase(orders_.begin() + static_cast<std::ptrdiff_t>(i));
    bench_->pipeline.execute(u, what, 1);
  }

  void withdraw_some(model_run& r) {
    --mishaps_;
    lose(r, pick(random_, 0, static_cast<std::uint32_t>(r.flights.size() - 1)), true);
  }

  /// The scheduler's part of a loss: flights from `first` on are undone, and withdrawn if they may still be on the
  /// device.
  void lose(model_run& r, std::size_t first, bool withdraw_first) {
    std::vector<unit> lost;
    for (auto i = first; i < r.flights.size(); ++i) {
      lost.push_back(r.units[r.flights[i]]);
    }
    r.next = r.flights[first];
    r.flights.erase(r.flights.begin() + static_cast<std::ptrdiff_t>(first), r.flights.end());
    ++r.attempt;
    for (std::size_t i = withdraw_first ? 0 : 1; i < lost.size(); ++i) {
      bench_->pipeline.withdraw(lost[i]);
    }
  }

  /// Records the pipeline's messages.
  std::string observe() {
    for (; seen_demotions_ < bench_->port.demotions.size(); ++seen_demotions_) {
      auto& r = runs_[bench_->port.demotions[seen_demotions_].model.value];
      const auto found = position(r, bench_->port.demotions[seen_demotions_]);
      if (found != 0) {
        return to_string(bench_->port.demotions[seen_demotions_]) + " is demoted before its predecessor, or was lost";
      }
      for (const auto& id : written_back_by(r.units[r.flights.front()], r.model.what()->plan)) {
        home_.insert(id);
      }
      for (const auto& id : consumed_by(r.units[r.flights.front()], r.model.what()->plan.shape())) {
        home_.erase(id);
      }
      r.flights.pop_front();
    }
    for (; seen_questions_ < bench_->port.questions.size(); ++seen_questions_) {
      const auto& q = bench_->port.questions[seen_questions_];
      for (const auto& id : q.reads) {
        const bool versioned = id.kind == block_kind::parameters || id.kind == block_kind::state;
        const bool made_here =
            id.kind == block_kind::activation || id.kind == block_kind::upstream || (versioned && id.step.value > 0);
        if (made_here && !home_.contains(id)) {
          return to_string(q.what) + " reads " + to_string(id) + ", which is not in host memory";
        }
      }
    }
    for (; seen_failures_ < bench_->port.failures.size(); ++seen_failures_) {
      const auto u = bench_->port.failures[seen_failures_].what;
      auto& r = runs_[u.model.value];
      if (const auto found = position(r, u)) {
        lose(r, *found, false);
      }
    }
    const auto& budget = bench_->pipeline.budget();
    return budget.used() > budget.limit() ? "the budget is exceeded" : "";
  }

  static std::optional<std::size_t> position(const model_run& r, const unit& u) {
    const auto found = std::ranges::find_if(r.flights, [&](std::size_t i) { return r.units[i] == u; });
    return found == r.flights.end() ? std::nullopt : std::optional<std::size_t>(found - r.flights.begin());
  }

  std::string check_end() const {
    const auto& port = bench_->port;
    for (const auto& u : all_) {
      if (port.ends_of(u) != 1) {
        return fmt::format("{} ended {} times", to_string(u), port.ends_of(u));
      }
    }
    if (port.credits() != slots_ + placed_) {
      return fmt::format("{} credits of {} slots and {} units", port.credits(), slots_, placed_);
    }
    for (const auto& q : port.questions) {
      const auto returned = std::ranges::count(port.returned, q.lease);
      if (returned > 1 || (q.granted && !q.reads.empty() && returned == 0)) {
        return fmt::format("lease {} was returned {} times", q.lease.value, returned);
      }
    }
    return bench_->pipeline.quiet() ? "" : "not quiet:\n" + bench_->pipeline.describe();
  }

  rng random_;
  std::uint32_t mishaps_;
  std::uint32_t slots_ = 1;
  std::vector<model_run> runs_;
  std::unique_ptr<pipeline_bench> bench_;
  std::deque<std::pair<unit, sharded_model_ptr>> orders_;   ///< execute_shard messages on their way
  std::vector<unit> all_;
  std::set<block_id> home_;
  std::uint32_t placed_ = 0;
  std::size_t seen_demotions_ = 0, seen_questions_ = 0, seen_failures_ = 0;
};

}  // namespace

TEST_CASE("in any order of events every unit is demoted once and nothing is left on the device", "[fuzz]") {
  for (const std::uint32_t seed : seeds(1500)) {
    INFO("seed " << seed);
    REQUIRE(random_run(seed, false).run() == "");
  }
}

TEST_CASE("with random failures and withdrawals every unit ends once and nothing is left on the device", "[fuzz]") {
  for (const std::uint32_t seed : seeds(3000)) {
    INFO("seed " << seed);
    REQUIRE(random_run(seed, true).run() == "");
  }
}
