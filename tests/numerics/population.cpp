// A population (pbt) trains for real: bad trials are replaced by copies of good ones, whose bits are those of a
// training that begins from the same checkpoint alone; a run that is interrupted loses no copy and repeats no decision.

#include "actors/selection/search_rules.hpp"
#include "tests/support/mixed_workload.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <catch2/catch.hpp>

#include <cmath>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;

namespace population_test {

constexpr std::uint32_t steps = 12;
constexpr std::size_t trials = 8;

double rate_of(std::size_t i) { return 0.4 * std::pow(0.5, (i * 5) % trials); }

exact_case trial_with(double rate) {
  auto t = tiny_gpt(0.0, true);
  t.steps = steps;
  t.evaluate_every = 1;
  t.cuts = {};
  t.optimizer = sgd({.learning_rate = rate});
  return t;
}

search_settings settings() {
  search_settings s{.kind = search_kind::pbt, .steps = steps, .every = 3, .seed = 5};
  s.space = {{"optimizer.learning_rate", distribution::log_uniform, 1e-3, 1}};
  for (std::size_t i = 0; i < trials; ++i)
    s.trials.push_back({fmt::format("model-{}", i), {{"optimizer.learning_rate", fmt::format("{}", rate_of(i))}}});
  return s;
}

/// A population in a folder, in as many parts as it is interrupted.
class population {
 public:
  explicit population(std::size_t interruptions, byte_count host) : interruptions_{interruptions}, host_{host} {
    for (std::size_t i = 0; i < trials; ++i) models_.push_back(describe(trial_with(rate_of(i)), i));
    while (train().interrupted) REQUIRE(parts_ < 20);
  }

  const report& summary() const { return summary_; }
  const std::vector<search_record>& records() const { return records_; }
  /// Of the copies, as they were added.
  std::vector<model_description> copies() const { return {models_.begin() + trials, models_.end()}; }

 private:
  const report& train() {
    session s{{.host_memory = host_, .output = folder_.path() / "run", .log = verbosity::quiet, .resume = parts_ > 0}};
    s.add_devices(2, tiny());
    for (const auto& m : models_) s.add_model(m);
    std::vector<std::thread> copying;
    const auto earlier = records_;
    s.use_search(settings(),
                 {.record = [this](const search_record& r) { records_.push_back(r); },
                  .copy =
                      [&](const trial_copy& c) {
                        copying.emplace_back([&s, this, c] {
                          if (copy(s, c)) s.copy_begun(c.trial, true);
                        });
                      }},
                 earlier);
    if (parts_++ < interruptions_) {
      s.on<step_completed>([&, left = 10 + random_() % 30](const step_completed&, control&) mutable {
        if (--left == 0) s.interrupt();
      });
    }
    summary_ = s.run();
    for (auto& t : copying) t.join();
    CHECK(wrong_ == "");
    return summary_;
  }

  /// False if the run ends before: it is asked for again.
  bool copy(session& s, const trial_copy& c) try {
    const std::scoped_lock lock{adding_};
    if (std::ranges::count(models_, c.trial, &model_description::name) > 0) return true;
    auto d = *std::ranges::find(models_, c.of, &model_description::name);
    d.name = c.trial;
    d.optimizer.learning_rate = std::stod(c.keys.at(0).value);
    d.begins = s.keep(c.of);
    if (!d.begins.filename().string().starts_with(fmt::format("kept-step-{}", c.steps)))
      wrong_ += c.trial + " begins from another step; ";
    models_.push_back(d);
    try {
      s.queue_model(d);
    } catch (...) {
      models_.pop_back();
      throw;
    }
    return true;
  } catch (const fault_error& e) {
    const std::scoped_lock lock{adding_};
    if (e.what_happened().code != fault_code::refused) wrong_ += e.what();
    return false;
  }

  temporary_folder folder_;
  std::size_t interruptions_;
  byte_count host_;
  std::size_t parts_ = 0;
  std::mt19937 random_{7};
  std::string wrong_;  ///< what copying threads have seen
  std::mutex adding_;
  std::vector<model_description> models_;
  std::vector<search_record> records_;
  report summary_;
};

std::size_t stopped_for_copies(const std::vector<search_record>& records) {
  std::map<std::string, std::string> copies;  // by the trial that it replaces
  for (const auto& r : records)
    for (const auto& d : r.decisions)
      if (d.copy) copies[d.trial] = d.copy->trial;
  return copies.size();
}

/// Of a run of this model alone, from its first step or from where it begins.
std::string digest_alone(const model_description& d) {
  session s{{.log = verbosity::quiet}};
  s.add_devices(1, roomy());
  s.add_model(d);
  return s.run().models.at(0).digest;
}

TEST_CASE("trials of a population are replaced by copies of better ones, each with the bits that it has alone",
          "[search]") {
  // "kept-step-6-2": kept once more, by a run that was interrupted before the copy had begun.
  const auto decided = [](const population& p) {
    const std::string kept = "kept-step-";
    std::set<std::string> copies;
    for (const auto& c : p.copies()) {
      const std::string place = c.begins.filename().string();
      copies.insert(
          fmt::format("{} {} {}", c.name, place.substr(0, place.find('-', kept.size())), c.optimizer.learning_rate));
    }
    return fmt::format("{}", fmt::join(copies, "\n"));
  };
  const auto first = decided(population{0, {}});
  const auto scarce = planned_host_memory({trial_with(1), trial_with(1), trial_with(1)}, {.devices = {tiny(), tiny()}});
  for (const auto& [interruptions, host] :
       {std::pair{0, byte_count{}}, std::pair{0, scarce}, std::pair{4, byte_count{}}}) {
    INFO(interruptions << " interruptions, host memory " << to_string(host));
    const population p{static_cast<std::size_t>(interruptions), host};
    const auto copies = p.copies();
    CHECK(copies.size() >= 4);
    CHECK(decided(p) == first);
    CHECK(copies.size() == stopped_for_copies(p.records()));
    auto rule = make_search_rule(settings());
    CHECK_NOTHROW(replay(*rule, p.records()));
    for (const auto& c : copies) {
      const auto is = std::ranges::find(p.summary().models, c.name, &model_report::name);
      INFO(c.name);
      REQUIRE(is != p.summary().models.end());
      if (is->steps == steps) CHECK(is->digest == digest_alone(c));
    }
  }
}

TEST_CASE("a population without anybody who begins copies is refused, and so is one that saves nothing", "[search]") {
  session s{{.log = verbosity::quiet}};
  s.add_devices(1, roomy());
  s.add_model(describe(trial_with(1), 0));
  CHECK_THROWS_WITH(s.use_search(settings()), Catch::Contains("search_hooks::copy"));
  s.use_search(settings(), {.copy = [](const trial_copy&) {}});
  CHECK_THROWS_WITH(s.run(), Catch::Contains("give the run a folder"));
}

}  // namespace population_test
