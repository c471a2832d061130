#include "partition/execute/model_update.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <set>

using namespace hydra;

namespace {

using jobs = std::vector<update_job>;
using shards = std::vector<std::size_t>;

constexpr update_job step(std::size_t s) { return {update_job::kind::step, s}; }
constexpr update_job norms(std::size_t s) { return {update_job::kind::norms, s}; }

/// Shard 2 repeats a parameter of shard 0.
const std::vector<tie> tied{{.owner_shard = 0, .owner = 0, .copy_shard = 2, .copy = 0}};

/// One step with write-backs of gradients and ends of jobs in random order; how often each shard completed.
std::map<std::size_t, int> random_step(update_tracker& tracker, std::size_t n, std::mt19937& random) {
  shards to_write_back(n);
  std::ranges::generate(to_write_back, [i = std::size_t{0}]() mutable { return i++; });
  std::ranges::shuffle(to_write_back, random);
  jobs running;
  std::map<std::size_t, int> completed;
  std::set<std::size_t> stepped;
  while (!to_write_back.empty() || !running.empty()) {
    jobs more;
    for (const auto s : tracker.take_complete()) {
      CHECK(stepped.contains(s));
      ++completed[s];
    }
    if (running.empty() || (!to_write_back.empty() && random() % 2 == 0)) {
      more = tracker.written_back(to_write_back.back());
      to_write_back.pop_back();
    } else {
      std::swap(running[random() % running.size()], running.back());
      const auto job = running.back();
      running.pop_back();
      more = tracker.done(job);
      if (job.what == update_job::kind::step) {
        stepped.insert(job.shard);
      }
    }
    running.insert(running.end(), more.begin(), more.end());
  }
  for (const auto s : tracker.take_complete()) {
    ++completed[s];
  }
  return completed;
}

}  // namespace

TEST_CASE("without clipping a shard is stepped as its gradients are written back") {
  update_tracker tracker(3, {}, false);
  CHECK(tracker.written_back(2) == jobs{step(2)});
  CHECK(tracker.written_back(0) == jobs{step(0)});
  CHECK(tracker.done(step(2)).empty());
  CHECK(tracker.take_complete() == shards{2});
  CHECK(tracker.take_complete().empty());
  CHECK_FALSE(tracker.step_complete());
}

TEST_CASE("with clipping no shard is stepped before all norms are known, then all are, shard 0 first") {
  update_tracker tracker(3, {}, true);
  CHECK(tracker.written_back(2) == jobs{norms(2)});
  CHECK(tracker.written_back(1) == jobs{norms(1)});
  CHECK(tracker.done(norms(2)).empty());
  CHECK(tracker.written_back(0) == jobs{norms(0)});
  CHECK(tracker.done(norms(0)).empty());
  CHECK(tracker.done(norms(1)) == jobs{step(0), step(1), step(2)});
  CHECK(tracker.take_complete().empty());
}

TEST_CASE("the owner of a tied parameter waits for its tied copy's gradients") {
  update_tracker tracker(3, tied, false);
  CHECK(tracker.written_back(0).empty());
  CHECK(tracker.written_back(1) == jobs{step(1)});
  CHECK(tracker.written_back(2) == jobs{step(0), step(2)});
}

TEST_CASE("with clipping the norms of an owner wait for its tied copy's gradients") {
  update_tracker tracker(3, tied, true);
  CHECK(tracker.written_back(0).empty());
  CHECK(tracker.written_back(2) == jobs{norms(0), norms(2)});
}

TEST_CASE("a tied copy's shard is complete only after its owner's step has copied the values") {
  update_tracker tracker(3, tied, false);
  tracker.written_back(2);
  tracker.written_back(0);
  tracker.done(step(2));
  CHECK(tracker.take_complete().empty());
  tracker.done(step(0));
  CHECK(tracker.take_complete() == shards{0, 2});
}

TEST_CASE("in any order of write-backs and ends every shard completes once a step, for several steps") {
  std::mt19937 random(5);
  for (int i = 0; i < 300; ++i) {
    const std::size_t n = 3 + random() % 4;
    update_tracker tracker(n, random() % 2 == 0 ? tied : std::vector<tie>{}, random() % 2 == 0);
    for (int s = 0; s < 3; ++s) {
      const auto completed = random_step(tracker, n, random);
      CHECK(completed.size() == n);
      CHECK(std::ranges::all_of(completed, [](const auto& c) { return c.second == 1; }));
      CHECK(tracker.step_complete());
      tracker.next_step();
      CHECK_FALSE(tracker.step_complete());
    }
  }
}

TEST_CASE("the next step starts with nothing written back, normed or complete") {
  update_tracker tracker(2, {}, true);
  for (const std::size_t s : {0, 1}) tracker.written_back(s);
  for (const std::size_t s : {0, 1}) tracker.done(norms(s));
  for (const std::size_t s : {0, 1}) tracker.done(step(s));
  CHECK(tracker.take_complete() == shards{0, 1});
  tracker.next_step();
  CHECK(tracker.take_complete().empty());
  CHECK(tracker.written_back(1) == jobs{norms(1)});
  CHECK(tracker.done(norms(1)).empty());
}

TEST_CASE("owner and tied copy in one shard delay nothing") {
  update_tracker tracker(1, {{.owner_shard = 0, .owner = 0, .copy_shard = 0, .copy = 1}}, false);
  CHECK(tracker.written_back(0) == jobs{step(0)});
  tracker.done(step(0));
  CHECK(tracker.take_complete() == shards{0});
  CHECK(tracker.step_complete());
}

TEST_CASE("a tracker that resumes from any moment of a step asks for the jobs that were not done, and no others") {
  std::mt19937 random(11);
  for (int round = 0; round < 400; ++round) {
    const bool clips = random() % 2 == 0;
    const auto ties = random() % 2 == 0 ? tied : std::vector<tie>{};
    update_tracker before(3, ties, clips);
    std::multiset<std::pair<int, std::size_t>> waiting;   // asked for, not done
    const auto ask = [&](const jobs& more) {
      for (const auto& job : more) {
        waiting.emplace(static_cast<int>(job.what), job.shard);
      }
    };
    shards to_write_back{2, 1, 0};
    for (auto steps = random() % 9; steps > 0; --steps) {
      if (!to_write_back.empty() && (waiting.empty() || random() % 2 == 0)) {
        ask(before.written_back(to_write_back.front()));
        to_write_back.erase(to_write_back.begin());
      } else if (!waiting.empty()) {
        const auto [what, shard] = *waiting.begin();
        waiting.erase(waiting.begin());
        ask(before.done({static_cast<update_job::kind>(what), shard}));
        before.take_complete();
      }
    }
    if (before.step_complete()) {
      continue;
    }
    update_tracker after(3, ties, clips);
    std::multiset<std::pair<int, std::size_t>> resumed;
    for (const auto& job : after.resume(before.phases())) {
      resumed.emplace(static_cast<int>(job.what), job.shard);
    }
    REQUIRE(resumed == waiting);
    REQUIRE(after.phases() == before.phases());
  }
}

TEST_CASE("shards that devices step are complete without a job, in every step and after a resume") {
  update_tracker tracker(3, {}, false, {true, false, true});
  for (int i = 0; i < 2; ++i) {
    CHECK_FALSE(tracker.step_complete());
    CHECK(tracker.written_back(1) == jobs{step(1)});
    CHECK(tracker.done(step(1)).empty());
    CHECK(tracker.take_complete() == shards{1});
    CHECK(tracker.step_complete());
    tracker.next_step();
  }
  update_tracker after(3, {}, false, {true, false, true});
  using enum update_phase;
  CHECK(after.resume({written_back, waiting, complete}) ==
        jobs{step(0)});  // started on the host before, completed on the host
  CHECK(after.done(step(0)).empty());
  CHECK(after.take_complete() == shards{0});
  CHECK(after.written_back(1) == jobs{step(1)});
}

TEST_CASE("a step that the host has completed and a device has not is not a step of the tracker any more") {
  using enum update_phase;
  update_tracker tracker(3, {}, false, {true, false, false});
  CHECK(tracker.resume({waiting, complete, complete}).empty());  // shard 0 is the device's
  CHECK(tracker.written_back(2) == jobs{step(2)});                     // of the next step
  CHECK(tracker.done(step(2)).empty());
  CHECK(tracker.take_complete() == shards{2});
}
