#include "actors/cluster/assignments.hpp"
#include "tests/support/depth.hpp"

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

using namespace hydra;
using hydra::test::seeds;
using namespace std::chrono_literals;

namespace {

template <class Command>
std::vector<Command> of(const std::vector<cluster_command>& commands) {
  std::vector<Command> all;
  for (const auto& c : commands) {
    if (const auto* one = std::get_if<Command>(&c)) {
      all.push_back(*one);
    }
  }
  return all;
}

/// Nodes in virtual time: each trains the longest of its models, one on each device. Nodes may be lost; models take
/// other times than estimated.
class fluid_cluster {
 public:
  fluid_cluster(std::uint32_t seed, std::vector<node_capacity> nodes, std::size_t models, double uncertain, double loss)
      : draw_(seed), loss_(loss) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      state_.add_node(fmt::format("n{}", i), nodes[i]);
    }
    std::uniform_real_distribution<double> length(200, 600), error(1 - uncertain, 1 + uncertain);
    for (std::size_t i = 0; i < models; ++i) {
      const auto real = length(draw_);
      work_.push_back(real);
      state_.add_model(fmt::format("m{}", i), from_seconds(real * error(draw_)), byte_count{1 << 30});
    }
    left_ = work_;
    saved_ = work_;
  }

  /// Until all models have ended. Returns what is wrong.
  std::string run() {
    for (int t = 0; t < 100'000; ++t) {
      if (auto wrong = tick(); !wrong.empty() || state_.over()) {
        makespan_ = t;
        return wrong;
      }
    }
    return "it does not end";
  }

  double bound() const {
    auto longest = work_;
    std::ranges::sort(longest, std::ranges::greater{});
    std::vector<double> fastest;
    for (const auto& n : state_.nodes()) {
      fastest.insert(fastest.end(), n.capacity.devices, n.capacity.speed);
    }
    std::ranges::sort(fastest, std::ranges::greater{});
    double best = 0, work = 0, speed = 0;
    for (std::size_t k = 0; k < longest.size(); ++k) {
      work += longest[k];
      speed += k < fastest.size() ? fastest[k] : 0;
      best = std::max(best, work / speed);
    }
    return best;
  }

  double makespan() const { return makespan_; }
  const assignments& state() const { return state_; }

 private:
  std::string tick() {
    for (const auto& c : state_.decide()) {
      if (const auto* a = std::get_if<assign_model>(&c)) {
        has_[a->model] = {a->node, a->epoch};
        if (!state_.began(a->model, a->epoch)) return "an assignment is not taken";
        if (!state_.nodes()[a->node].here) return "a node that is lost gets a model";
        left_[a->model] = saved_[a->model];
      } else {
        const auto& r = std::get<take_back_model>(c);
        saved_[r.model] = left_[r.model];
        state_.saved(r.model, r.epoch, 1);
        has_.erase(r.model);
        if (!state_.released(r.model, r.epoch)) return "a model that is taken back is not released";
      }
    }
    train();
    disturb();
    return {};
  }

  void train() {
    for (std::size_t n = 0; n < state_.nodes().size(); ++n) {
      std::vector<std::size_t> mine;
      for (const auto& [m, where] : has_) {
        if (where.first == n) mine.push_back(m);
      }
      std::ranges::sort(mine, std::ranges::greater{}, [&](std::size_t m) { return left_[m]; });
      mine.resize(std::min(mine.size(), state_.nodes()[n].capacity.devices));
      for (const auto m : mine) advance(m, state_.nodes()[n].capacity.speed);
    }
  }

  void advance(std::size_t m, double speed) {
    const auto epoch = has_.at(m).second;
    left_[m] -= speed;
    if (left_[m] <= 0) {
      state_.ended(m, epoch, {});
      has_.erase(m);
      return;
    }
    state_.progressed(m, epoch, 1, from_seconds(left_[m]));
  }

  /// Now and then a node is lost, and another one comes; what it says afterwards is too late. Models are saved at
  /// times.
  void disturb() {
    std::uniform_real_distribution<double> chance(0, 1);
    for (const auto& [m, where] : has_) {
      if (chance(draw_) < 0.02 && state_.saved(m, where.second, 1)) saved_[m] = left_[m];
    }
    if (loss_ == 0 || chance(draw_) >= loss_) return;
    const auto victim = draw_() % state_.nodes().size();
    if (!state_.nodes()[victim].here) return;
    const auto old = has_;
    state_.node_lost(victim);
    std::erase_if(has_, [&](const auto& entry) { return entry.second.first == victim; });
    for (const auto& [m, where] : old) {
      if (where.first == victim && (state_.ended(m, where.second, {}) || state_.progressed(m, where.second, 9, {})))
        ++late_;
    }
    state_.add_node("again", state_.nodes()[victim].capacity);
  }

 public:
  int late_ = 0;  ///< words of lost nodes that had an effect

 private:
  std::mt19937 draw_;
  double loss_;
  assignments state_;
  std::vector<double> work_, left_, saved_;
  std::map<std::size_t, std::pair<std::size_t, assignment_epoch>> has_;
  double makespan_ = 0;
};

}  // namespace

TEST_CASE("models are assigned when nodes join, and again, from their checkpoints, when these are lost", "[cluster]") {
  assignments a;
  const auto m = a.add_model("m", 10s, byte_count{1});
  CHECK(a.decide().empty());
  const auto first = a.add_node("a", {});
  const auto given = of<assign_model>(a.decide());
  REQUIRE(given.size() == 1);
  CHECK(given[0].node == first);
  CHECK_FALSE(given[0].from_step);
  CHECK(a.decide().empty());
  REQUIRE(a.began(m, given[0].epoch));
  REQUIRE(a.saved(m, given[0].epoch, 4));
  a.node_lost(first);
  CHECK_FALSE(a.progressed(m, given[0].epoch, 9, 1s));
  CHECK_FALSE(a.ended(m, given[0].epoch, {}));
  CHECK(a.decide().empty());
  const auto second = a.add_node("b", {});
  const auto again = of<assign_model>(a.decide());
  REQUIRE(again.size() == 1);
  CHECK(again[0].node == second);
  CHECK(again[0].epoch > given[0].epoch);
  CHECK(again[0].from_step == 4);
  REQUIRE(a.began(m, again[0].epoch));
  REQUIRE(a.ended(m, again[0].epoch, {}));
  CHECK(a.over());
}

TEST_CASE("a node that leaves hands its models over, and gets no more", "[cluster]") {
  assignments a;
  a.add_model("m", 10s, byte_count{1});
  a.add_node("a", {});
  const auto given = of<assign_model>(a.decide());
  a.began(0, given[0].epoch);
  a.node_leaves(0);
  const auto back = of<take_back_model>(a.decide());
  REQUIRE(back.size() == 1);
  CHECK(a.decide().empty());
  a.saved(0, back[0].epoch, 7);
  REQUIRE(a.released(0, back[0].epoch));
  CHECK(a.decide().empty());
  a.add_node("b", {});
  const auto again = of<assign_model>(a.decide());
  REQUIRE(again.size() == 1);
  CHECK(again[0].node == 1);
  CHECK(again[0].from_step == 7);
}

TEST_CASE("a model that is paused is taken back, and given to a node when it is resumed", "[cluster]") {
  assignments all;
  all.add_node("a", {});
  all.add_model("m", 100s, {});
  const auto first = of<assign_model>(all.decide()).at(0);
  all.pause(0, true);
  CHECK(all.decide().empty());  // it is on its way
  CHECK(all.began(0, first.epoch));
  CHECK(of<take_back_model>(all.decide()).size() == 1);
  CHECK(all.released(0, first.epoch));
  CHECK(all.decide().empty());
  all.pause(0, false);
  CHECK(of<assign_model>(all.decide()).size() == 1);
  all.pause(0, true);
  all.node_lost(0);
  all.add_node("b", {});
  CHECK(of<assign_model>(all.decide()).empty());
  CHECK_FALSE(all.over());
  all.stopped(0);
  CHECK(all.over());
}

TEST_CASE("a model that does not fit a node goes to another; one that nodes refuse three times fails", "[cluster]") {
  assignments a;
  a.add_model("large", 10s, byte_count{1});
  a.add_node("small", {});
  auto given = of<assign_model>(a.decide());
  a.refused(0, given[0].epoch, {fault_code::does_not_fit, "too large"});
  CHECK(a.decide().empty());
  a.add_node("roomy", {});
  for (int i = 0; i < 3; ++i) {
    given = of<assign_model>(a.decide());
    REQUIRE(given.size() == 1);
    CHECK(given[0].node == 1);
    a.refused(0, given[0].epoch, {fault_code::damaged, "damaged"});
  }
  CHECK(a.over());
  CHECK(a.of(0).why.text == "damaged");
}

TEST_CASE("a model that fails again and again has failed, unless steps of it are saved in between", "[cluster]") {
  assignments a;
  a.add_model("m", 10s, byte_count{1});
  a.add_node("n", {});
  const auto fail = [&](std::uint32_t saved) {
    const auto given = of<assign_model>(a.decide());
    REQUIRE(given.size() == 1);
    CHECK(a.began(0, given[0].epoch));
    if (saved > 0) {
      a.saved(0, given[0].epoch, saved);
    }
    a.refused(0, given[0].epoch, {fault_code::bad_input, "no image"});
  };
  for (const std::uint32_t saved : {10, 20, 30, 30}) {
    fail(saved);
  }
  CHECK_FALSE(a.over());
  fail(0);
  CHECK(a.over());
}

TEST_CASE("a model that was trained and could not be saved has the steps of its last checkpoint", "[cluster]") {
  assignments a;
  a.add_model("m", 10s, byte_count{1});
  a.add_node("full", {});
  const auto epoch = of<assign_model>(a.decide())[0].epoch;
  a.began(0, epoch);
  a.saved(0, epoch, 20);
  a.progressed(0, epoch, 30, 7s);
  REQUIRE(a.refused(0, epoch, {fault_code::io, "disk"}));
  CHECK(a.of(0).steps == 20);
}

TEST_CASE("a node that could not write files is avoided for a while, and no model fails by that", "[cluster]") {
  assignments a;
  a.add_model("m", 10s, byte_count{1});
  a.add_node("full", {});
  for (int i = 0; i < 5; ++i) {
    const auto given = of<assign_model>(a.decide());
    REQUIRE(given.size() == 1);
    a.refused(0, given[0].epoch, {fault_code::io, "disk"});
    CHECK(a.decide().empty());
    a.forgive();
  }
  a.refused(0, of<assign_model>(a.decide())[0].epoch, {fault_code::io, "disk"});
  const auto empty = a.add_node("empty", {});
  const auto given = of<assign_model>(a.decide());
  REQUIRE(given.size() == 1);
  CHECK(given[0].node == empty);
}

TEST_CASE("longest first with few moves is close to the bound, on nodes of different speeds", "[cluster]") {
  std::vector<node_capacity> nodes;
  for (const double speed : {1.0, 1.0, 0.5, 0.25}) {
    nodes.push_back({.devices = 8, .speed = speed});
  }
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    fluid_cluster c(seed, nodes, 96, 0.25, 0);
    REQUIRE(c.run() == "");
    INFO("seed " << seed << ": " << c.makespan() / c.bound() << " of the bound, " << c.state().moves() << " moves");
    CHECK(c.makespan() <= 1.1 * c.bound());
    CHECK(c.state().moves() <= 30);
  }
}

TEST_CASE("whatever nodes are lost, every model ends, and late words of lost nodes have no effect", "[cluster][fuzz]") {
  const std::vector<node_capacity> nodes(3, {.devices = 2});
  for (const std::uint32_t seed : seeds(100)) {
    INFO("seed " << seed);
    fluid_cluster c(seed, nodes, 12, 0.5, 0.005);
    REQUIRE(c.run() == "");
    REQUIRE(c.late_ == 0);
  }
}

TEST_CASE("a model that could not be saved is trained on, and asked for again after a while", "[cluster]") {
  assignments a;
  a.add_model("m", 10s, byte_count{1});
  const auto leaving = a.add_node("a", {});
  a.add_node("b", {});
  const auto epoch = of<assign_model>(a.decide())[0].epoch;
  CHECK(a.began(0, epoch));
  a.node_leaves(*a.of(0).node);
  REQUIRE(of<take_back_model>(a.decide()).size() == 1);
  CHECK(a.stays(0, epoch));
  CHECK(a.decide().empty());
  a.forgive();
  CHECK(of<take_back_model>(a.decide()).size() == 1);
  CHECK(a.moves() == 0);
  CHECK(a.of(0).node == leaving);
}

namespace {

/// Three nodes with a device each, and a model for up to three of them, with a checkpoint of step 10.
assignments three_nodes(std::uint32_t nodes_of_model) {
  assignments a;
  for (const auto* name : {"a", "b", "c"}) a.add_node(name, {});
  a.add_model("m", 100s, byte_count{1000});
  a.estimated(0, 100s, byte_count{1000}, nodes_of_model);
  a.found(0, 10);
  return a;
}

std::vector<std::size_t> nodes_of(const assign_model& c) {
  std::vector<std::size_t> all{c.node};
  all.insert(all.end(), c.helpers.begin(), c.helpers.end());
  std::ranges::sort(all);
  return all;
}

}  // namespace

TEST_CASE("a model goes to as many nodes as are to train it together", "[assignments]") {
  for (const std::uint32_t n : {1, 2, 3}) {
    auto a = three_nodes(n);
    const auto given = of<assign_model>(a.decide());
    REQUIRE(given.size() == 1);
    CHECK(nodes_of(given[0]).size() == n);
    CHECK(a.decide().empty());
  }
}

TEST_CASE("when a node is lost, those that trained a model with it drop it, and it goes to others", "[assignments]") {
  for (const bool first : {true, false}) {
    auto a = three_nodes(2);
    const auto given = of<assign_model>(a.decide()).at(0);
    REQUIRE(a.began(0, given.epoch));
    REQUIRE(a.progressed(0, given.epoch, 17, 80s));
    const auto lost = first ? given.node : given.helpers[0];
    const auto left = first ? given.helpers[0] : given.node;
    a.node_lost(lost);
    const auto commands = a.decide();
    const auto drops = of<drop_model>(commands);
    REQUIRE(drops.size() == 1);
    CHECK(drops[0].node == left);
    CHECK(drops[0].epoch == given.epoch);
    const auto again = of<assign_model>(commands).at(0);
    CHECK(again.epoch > given.epoch);
    CHECK(again.from_step == 10u);
    const auto nodes = nodes_of(again);
    CHECK(nodes.size() == 2);
    CHECK(std::ranges::count(nodes, lost) == 0);
    CHECK_FALSE(a.progressed(0, given.epoch, 18, 79s));
  }
}

TEST_CASE("a node that cannot train a model with others is avoided, the others drop it; more try again later",
          "[assignments]") {
  auto a = three_nodes(3);
  auto given = of<assign_model>(a.decide()).at(0);
  REQUIRE(nodes_of(given).size() == 3);
  const auto bad = given.helpers[1];
  CHECK_FALSE(a.refused(0, given.epoch, {fault_code::io, "lost"}, 7));  // another node has no say
  REQUIRE(a.refused(0, given.epoch, {fault_code::io, "lost"}, bad));
  const auto commands = a.decide();
  CHECK(of<drop_model>(commands).size() == 3);
  given = of<assign_model>(commands).at(0);
  CHECK(nodes_of(given).size() == 2);
  CHECK(std::ranges::count(nodes_of(given), bad) == 0);
  REQUIRE(a.began(0, given.epoch));
  CHECK(a.decide().empty());
  a.forgive();
  const auto grows = of<take_back_model>(a.decide());
  REQUIRE(grows.size() == 1);
  CHECK(grows[0].node == given.node);
  REQUIRE(a.saved(0, given.epoch, 20));
  REQUIRE(a.released(0, given.epoch));
  const auto last = a.decide();
  CHECK(of<drop_model>(last).size() == 2);  // the first one, too: its team is over
  CHECK(nodes_of(of<assign_model>(last).at(0)).size() == 3);
  CHECK(of<assign_model>(last).at(0).from_step == 20u);
}

TEST_CASE("the more often nodes cannot train a model together, the more must be left to try again", "[assignments]") {
  auto a = three_nodes(2);
  int tries = 0;
  for (int i = 0; i < 100; ++i) {
    const auto commands = a.decide();
    for (const auto& given : of<assign_model>(commands)) {
      if (given.helpers.empty()) {
        REQUIRE(a.began(0, given.epoch));
      } else {
        ++tries;
        a.refused(0, given.epoch, {fault_code::io, "lost"}, given.helpers[0]);
      }
    }
    for (const auto& back : of<take_back_model>(commands)) a.released(0, back.epoch);
    if (i % 5 == 4) a.forgive();
  }
  CHECK(tries > 2);
  CHECK(tries < 20);
}
