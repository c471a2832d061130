// A search on the nodes of a cluster decides as on one machine, and its trials have the same bits.

#include "actors/run/search_setup.hpp"
#include "partition/checkpoint/checkpoint_folder.hpp"
#include "runtime/base/fault.hpp"
#include "tests/actors/cluster/small_cluster.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace hydra;
using namespace hydra::test;

namespace {

constexpr std::uint32_t steps = 40;

cases some_trials(std::size_t n) {
  auto all = some_models(n, steps);
  for (std::size_t i = 0; i < n; ++i) {
    all[i] = tiny_gpt(0.1, true);
    all[i].steps = steps;
    all[i].evaluate_every = 10;
    all[i].cuts = {};
    all[i].seed = i + 1;
    all[i].optimizer.learning_rate = 0.001 * static_cast<double>(i + 1);
  }
  return all;
}

search_settings search_of(const cases& trials, search_kind kind) {
  search_settings s{.kind = kind, .steps = steps, .first = 10, .factor = 2};
  for (std::size_t i = 0; i < trials.size(); ++i) s.trials.push_back({"model-" + std::to_string(i)});
  return s;
}

/// What a search has recorded. Not thread-safe, but for its hook.
struct search_book {
  std::vector<search_record> records;
  std::mutex mutex;

  search_hooks hooks() {
    return {.record = [this](const search_record& r) {
      const std::lock_guard lock(mutex);
      records.push_back(r);
    }};
  }
  /// By trial and steps: a result that comes again is decided as before.
  std::map<std::pair<std::string, std::uint32_t>, trial_decision> decisions() const {
    std::map<std::pair<std::string, std::uint32_t>, trial_decision> all;
    for (const auto& r : records)
      for (const auto& d : r.decisions)
        if (d.verdict != trial_verdict::wait) {
          const auto [known, is_new] = all.emplace(std::pair{d.trial, d.steps}, d);
          CHECK((is_new || known->second == d));
        }
    return all;
  }
};

report search_alone(const cases& trials, const search_settings& search, search_book& book) {
  session s({.log = verbosity::quiet});
  s.add_devices(1, cpu_device{.memory = 8_MiB});
  for (std::size_t i = 0; i < trials.size(); ++i) s.add_model(describe(trials[i], i));
  s.use_search(search, book.hooks());
  return s.run();
}

cluster_workload searching(const cases& trials, const fs::path& folder, const search_settings& search,
                           search_hooks hooks, const std::vector<search_record>& earlier = {}) {
  auto w = workload_of(trials, folder);
  w.search = make_search(search, std::move(hooks), earlier);
  return w;
}

/// A search, and what one machine makes of it.
struct searched {
  explicit searched(std::size_t n, search_kind kind = search_kind::halving)
      : trials(some_trials(n)), search(search_of(trials, kind)), alone(search_alone(trials, search, book_alone)) {}

  cluster_workload work(const fs::path& folder, search_hooks hooks, const std::vector<search_record>& earlier = {}) {
    return searching(trials, folder / "run", search, std::move(hooks), earlier);
  }
  session_maker node(byte_count memory, std::shared_ptr<step_signal> signal = nullptr, duration latency = {}) {
    return maker(trials, memory, std::move(signal), latency, search);
  }
  void check(const report& r, const search_book& book) const {
    REQUIRE(r.models.size() == alone.models.size());
    for (std::size_t i = 0; i < r.models.size(); ++i) {
      CHECK(r.models[i].status == alone.models[i].status);
      CHECK(r.models[i].steps == alone.models[i].steps);
      CHECK(r.models[i].digest == alone.models[i].digest);
    }
    CHECK(book.decisions() == book_alone.decisions());
  }

  cases trials;
  search_settings search;
  search_book book_alone;
  report alone;
};

}  // namespace

TEST_CASE("trials on two nodes are decided about as on one machine", "[cluster]") {
  const temporary_folder folder;
  searched s(6, GENERATE(search_kind::halving, search_kind::hyperband));
  search_book book;
  cluster c(s.work(folder.path(), book.hooks()), {.nodes = 2});
  test_node a("a", folder.path(), c.address(), s.node(8_MiB));
  test_node b("b", folder.path(), c.address(), s.node(400_KiB));
  s.check(c.run(), book);
  CHECK(a.end() == node_end::done);
  CHECK(b.end() == node_end::done);
  CHECK(book.decisions().size() > 6);
}

TEST_CASE("trials of a node that leaves are evaluated again elsewhere, and decided about as before", "[cluster]") {
  const temporary_folder folder;
  searched s(6);
  search_book book;
  under_way c(s.work(folder.path(), book.hooks()), {.nodes = 2});
  test_node a("a", folder.path(), c->address(), s.node(8_MiB, c.steps(), slow));
  test_node b("b", folder.path(), c->address(), s.node(8_MiB, c.steps()));
  c.train_on(35);  // b's wait at the first rung, or soon do
  b.leave();
  CHECK(b.end() == node_end::done);
  s.check(c.end(), book);
  CHECK(a.end() == node_end::done);
}

TEST_CASE("a search of a cluster that is interrupted is resumed with the same decisions", "[cluster]") {
  const temporary_folder folder;
  searched s(4);
  search_book book;
  {
    gate interrupted;
    under_way c(s.work(folder.path(), book.hooks()), {});
    const opens_at_exit opens_later{interrupted};
    test_node a("a", folder.path(), c->address(), held(s.node(8_MiB, c.steps()), 45, interrupted));
    c.train_on(45);
    c->interrupt();
    interrupted.open();
    REQUIRE(c.end().interrupted);
    CHECK(a.end() == node_end::done);
  }
  const auto earlier = book.records;
  under_way c(s.work(folder.path(), book.hooks(), earlier), {});
  test_node a("a", folder.path(), c->address(), s.node(8_MiB, c.steps()));
  s.check(c.end(), book);
  CHECK(a.end() == node_end::done);
}

TEST_CASE("a trial that is stopped on a node and could not be saved is trained there again", "[cluster]") {
  const temporary_folder folder;
  searched s(4);
  REQUIRE(s.alone.models[0].status == model_status::stopped);
  search_book book;
  under_way c(s.work(folder.path(), book.hooks()), {});
  const auto root = folder.path() / "a" / "0000000000000007" / "checkpoints";
  const auto make = [&, plain = s.node(8_MiB)](const node_accepted& what, const node_place& place) {
    auto made = plain(what, place);
    made.run->on<step_completed>([&](const step_completed& e, control&) {
      if (e.name == "model-0" && e.done == 9 && !fs::exists(root / "aside")) {  // it is stopped after 10
        fs::rename(checkpoints_of(root, "model-0"), root / "aside");
        fs::create_directory_symlink(root / "nowhere", checkpoints_of(root, "model-0"));  // no file can be written there
      }
    });
    return made;
  };
  test_node a("a", folder.path(), c->address(), make);
  c.wait_for("it has ended, but could not be saved");
  const auto r = c.end();
  s.check(r, book);
  CHECK(r.cluster.nodes.at(0).failures > 0);
  CHECK(a.end() == node_end::done);
}

TEST_CASE("trials on nodes wait while decisions cannot be recorded", "[cluster]") {
  const temporary_folder folder;
  searched s(4);
  search_book book;
  std::atomic<int> attempts = 0;
  auto hooks = book.hooks();
  hooks.record = [&, record = hooks.record](const search_record& r) {
    if (++attempts == 4 || attempts == 6) throw fault_error(fault_code::io, "no space left");  // it was written between
    record(r);
  };
  under_way c(s.work(folder.path(), hooks), {});
  test_node a("a", folder.path(), c->address(), s.node(8_MiB, c.steps()));
  s.check(c.end(), book);
  CHECK(a.end() == node_end::done);
  CHECK(c.said("trials wait until the decisions of the search can be recorded: no space left"));
  CHECK(c.said("can be recorded again"));
}

TEST_CASE("all trials on nodes go on when the search fails, and one that was stopped is not waited for", "[cluster]") {
  const temporary_folder folder;
  const auto trials = some_trials(3);
  const auto search = search_of(trials, search_kind::halving);
  search_book book;
  const bool fails = GENERATE(true, false);
  auto hooks = book.hooks();
  if (fails) hooks.record = [](const search_record&) { throw std::runtime_error("lost count"); };
  auto work = searching(trials, folder.path() / "run", search, hooks);
  if (!fails) work.stopped = {"model-0"};
  under_way c(std::move(work), {});
  test_node a("a", folder.path(), c->address(), maker(trials, 8_MiB, c.steps(), {}, search));
  const auto r = c.end();
  CHECK(a.end() == node_end::done);
  if (fails) {
    CHECK(c.said("the search failed: lost count"));
    for (const auto& m : r.models) CHECK(m.steps == steps);
  } else {
    CHECK(r.models[0].status == model_status::stopped);
    CHECK(std::ranges::count(r.models, steps, &model_report::steps) == 1);
  }
}
