// A model whose steps are shared by several runs has the bits of plain training.

#include "tests/support/depth.hpp"
#include "tests/support/spilled_run.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/waiting_run.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;

namespace shared_steps_test {

namespace fs = std::filesystem;

/// Where the runs of a process exchange values. Those of an operation are there when all runs have come to it.
class meeting {
 public:
  explicit meeting(std::size_t nodes) : operations_(nodes) {}

  void come(std::size_t node, partner_exchange e) {
    const std::lock_guard lock(mutex_);
    operations_[node].push_back(std::move(e));
    const bool all = std::ranges::none_of(operations_, [](const auto& queue) { return queue.empty(); });
    if (!all) return;
    std::vector<partner_exchange> now;
    for (auto& queue : operations_) {
      now.push_back(std::move(queue.front()));
      queue.pop_front();
    }
    for (const auto& part : now) same_ = same_ && part.number == now.front().number && part.team == 5;
    now.front().adds ? add(now) : copy(now);
    for (const auto& part : now) part.done({});
    ++(now.front().adds ? added_ : copied_);
  }

  int added() const { return added_; }
  bool same() const { return same_; }
  int copied() const { return copied_; }

 private:
  static void add(const std::vector<partner_exchange>& now) {
    std::vector<float> sum;
    for (std::size_t r = 0; r < now.front().replicas.size(); ++r) {
      for (const auto& part : now) {
        const auto values = part.replicas[r];
        if (values.empty()) continue;
        if (sum.empty()) {
          sum.assign(values.begin(), values.end());
        } else {
          std::ranges::transform(sum, values, sum.begin(), std::plus{});
        }
      }
    }
    for (const auto& part : now)
      for (const auto values : part.replicas)
        if (!values.empty()) std::ranges::copy(sum, values.begin());
  }

  void copy(const std::vector<partner_exchange>& now) const {
    for (std::size_t r = 0; r < now.front().replicas.size(); ++r) {
      const auto owner = owner_(r);
      for (const auto& part : now) {
        const auto from = now[owner].replicas[r];
        if (&part != &now[owner]) std::ranges::copy(from, part.replicas[r].begin());
      }
    }
  }

 public:
  std::function<std::size_t(std::size_t)> owner_;   ///< the node of a replica

 private:
  std::mutex mutex_;
  std::vector<std::deque<partner_exchange>> operations_;
  bool same_ = true;
  int added_ = 0, copied_ = 0;
};

class at_meeting final : public step_partners {
 public:
  at_meeting(meeting& m, std::size_t node) : meeting_(m), node_(node) {}
  void exchange(partner_exchange e) override { meeting_.come(node_, std::move(e)); }

 private:
  meeting& meeting_;
  std::size_t node_;
};

std::vector<step_share> shares_of(std::uint32_t replicas, std::uint32_t nodes) {
  std::vector<step_share> all;
  for (std::uint32_t n = 0; n < nodes; ++n) {
    const auto first = replicas * n / nodes;
    all.push_back({.first = first, .replicas = replicas * (n + 1) / nodes - first, .of = replicas, .team = 5});
  }
  return all;
}

exact_case shared_case(exact_case c, std::uint32_t replicas) {
  c.batch_size = 8;
  c.micro_batches = 8;
  c.replicas = replicas;
  c.steps = 5;
  return c;
}

/// Runs that train a model together.
class team {
 public:
  team(const fs::path& folder, const exact_case& c, std::uint32_t nodes, const std::string& prefix = "node")
      : meeting_(nodes), shares_(shares_of(c.replicas, nodes)) {
    meeting_.owner_ = [this](std::size_t r) {
      const auto has = [r](const step_share& s) { return r >= s.first && r < s.first + s.replicas; };
      return static_cast<std::size_t>(std::ranges::find_if(shares_, has) - shares_.begin());
    };
    const cpu_device device{.memory = 8_MiB, .numbers = c.numbers, .gradients = c.gradients};
    for (std::uint32_t n = 0; n < nodes; ++n) {
      auto here = c;
      here.cuts = n % 3 == 0 ? c.cuts : n % 3 == 1 ? cut_points{0, 1, 3} : cut_points{0};
      runs_.push_back(std::make_unique<waiting_run>(folder / (prefix + std::to_string(n)), std::vector{here}, device,
                                                    std::make_shared<at_meeting>(meeting_, n)));
    }
  }

  waiting_run& operator[](std::size_t n) { return *runs_[n]; }
  std::size_t size() const { return runs_.size(); }
  const meeting& met() const { return meeting_; }

  void begin() {
    for (std::size_t n = 0; n < size(); ++n) steer(n, model_command::resume, shares_[n]);
  }
  void steer(std::size_t n, model_command what, const step_share& share = {}) {
    runs_[n]->steer("model-0", what, share);
  }

 private:
  meeting meeting_;
  std::vector<step_share> shares_;
  std::vector<std::unique_ptr<waiting_run>> runs_;
};

void check_all(team& nodes, const exact_case& c) {
  const auto alone =
      train_spilled({c}, {.devices = {cpu_device{.memory = 8_MiB, .numbers = c.numbers, .gradients = c.gradients}}});
  REQUIRE(difference(train_plain(c), alone, 0) == "");
  const auto& expected = alone.summary.models[0];
  for (std::size_t n = 0; n < nodes.size(); ++n) nodes[n].train_to_the_end(0);
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const auto r = nodes[n].end();
    INFO("node " << n << ": " << r.models[0].error.text);
    CHECK(r.models[0].status == model_status::finished);
    CHECK(r.models[0].digest == expected.digest);
    CHECK(r.models[0].loss == expected.loss);
    CHECK(r.models[0].grad_norm == expected.grad_norm);
    REQUIRE(r.models[0].validation.size() == expected.validation.size());
    for (std::size_t v = 0; v < expected.validation.size(); ++v) {
      CHECK(r.models[0].validation[v].loss == expected.validation[v].loss);
    }
    CHECK(fs::exists(nodes[n].checkpoints("model-0")) == (n == 0));
  }
  CHECK(nodes.met().same());
}

TEST_CASE("a model whose replicas are trained by several nodes has the bits of plain training", "[shared-steps]") {
  using row = std::tuple<std::uint32_t, std::uint32_t, bool>;
  std::vector<row> rows;
  for (const auto& [replicas, nodes] : {std::pair{2U, 1U}, {2U, 2U}, {4U, 2U}, {4U, 3U}, {8U, 4U}, {8U, 3U}}) {
    for (const bool convolves : {false, true}) rows.emplace_back(replicas, nodes, convolves);
  }
  for (const auto& [replicas, nodes, convolves] : sampled(rows, 4)) {
    auto c = shared_case(convolves ? tiny_cnn() : tiny_gpt(0.1, false), replicas);
    c.cuts = {0, 2};
    c.optimizer.clip_norm = replicas == 2 ? 0 : 0.5;
    INFO(replicas << " replicas on " << nodes << " nodes, convolutions " << convolves);
    const temporary_folder folder;
    team all(folder.path(), c, nodes);
    all.begin();
    check_all(all, c);
    CHECK((nodes == 1) == (all.met().added() == 0));
  }
}

TEST_CASE("sums that are rounded, or have tied copies, are gathered: the bits are those of plain training",
          "[shared-steps]") {
  auto tied = shared_case(tiny_gpt(0.1, true), 4);
  tied.optimizer.clip_norm = 0.5;
  auto rounded = shared_case(tiny_gpt(0.1, false), 4);
  rounded.numbers = rounded.gradients = precision::bf16;
  auto waves = shared_case(tiny_gpt(0.1, true), 2);
  waves.waves = 2;
  for (auto c : {tied, rounded, waves}) {
    c.cuts = {0, 2};
    const temporary_folder folder;
    team all(folder.path(), c, c.replicas == 4 ? 3 : 2);
    all.begin();
    check_all(all, c);
    CHECK(all.met().added() == 0);
  }
}

TEST_CASE("a model that several nodes train continues on others from the checkpoint of the first one",
          "[shared-steps]") {
  auto c = shared_case(tiny_gpt(0.1, GENERATE(false, true)), 4);
  c.steps = 40;
  c.cuts = {0, 2};
  c.optimizer.clip_norm = GENERATE(0, 1) == 1 ? 0.5 : 0;  // then units of the next step begin before the last update
  const temporary_folder folder;
  team first(folder.path(), c, 3, "first");
  auto paused = first[0].steers_after(3, "model-0", model_command::pause_between_steps);
  first.begin();
  paused.get();
  CHECK(first[0].phase_of(0) == model_phase::paused);
  first.steer(1, model_command::drop);
  first.steer(2, model_command::drop);
  CHECK(first[1].phase_of(0) == model_phase::paused);
  team second(folder.path(), c, 2, "second");
  for (std::size_t n = 0; n < 2; ++n) {
    fs::create_directories(second[n].checkpoints("model-0").parent_path());
    fs::copy(first[0].checkpoints("model-0"), second[n].checkpoints("model-0"), fs::copy_options::recursive);
  }
  second.begin();
  for (std::size_t n = 0; n < 2; ++n) second[n].train_to_the_end(0);
  const auto alone = train_spilled({c}, {});
  for (std::size_t n = 0; n < 2; ++n) {
    const auto r = second[n].end();
    CHECK(r.models[0].steps_before > 2);
    CHECK(r.models[0].digest == alone.summary.models[0].digest);
    CHECK(r.models[0].loss == alone.summary.models[0].loss);
  }
  for (std::size_t n = 0; n < 3; ++n) {
    CHECK(first[n].end().models[0].status == model_status::paused);
    CHECK(fs::exists(first[n].checkpoints("model-0")) == (n == 0));
  }
}

}  // namespace shared_steps_test
