#include "runtime/collective/collective.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/base/portable_random.hpp"
#include "runtime/collective/collective_cost.hpp"
#include "runtime/collective/collective_run.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <vector>

namespace hydra {
namespace {

using values = std::vector<float>;
using std::chrono_literals::operator""s;

/// What each party has at first: numbers whose sum depends on the order.
std::vector<values> random_values(std::uint32_t parties, std::uint64_t n, portable_random& random) {
  std::vector<values> all(parties, values(n));
  for (auto& of_one : all) {
    for (auto& x : of_one) {
      x = static_cast<float>(random.uniform(-1, 1) * std::ldexp(1.0, static_cast<int>(random.whole(0, 20))));
    }
  }
  return all;
}

values sum_in_order(const std::vector<values>& all) {
  auto sum = all.front();
  for (std::size_t i = 1; i < all.size(); ++i) {
    for (std::size_t k = 0; k < sum.size(); ++k) {
      sum[k] += all[i][k];
    }
  }
  return sum;
}

/// The rounds as their comment defines them, one value at a time.
std::vector<values> replay(const collective& c, std::vector<values> all) {
  std::vector<bool> has(c.parties, true);
  for (auto party = c.summands; party < c.parties; ++party) {
    has[party] = false;
    all.emplace_back(c.values);
  }
  for (const auto& round : c.rounds) {
    const auto before = all;
    auto has_now = has;
    for (std::uint32_t party = 0; party < c.parties; ++party) {
      std::vector<std::map<std::uint32_t, float>> addends(c.values);
      for (const auto& t : round) {
        for (auto k = t.what.first; t.to == party && k < t.what.first + t.what.count; ++k) {
          addends[k][t.from] = before[t.from][k];
          if (t.how == combination::add && has[party]) {
            addends[k][party] = before[party][k];
          }
          has_now[party] = true;
        }
      }
      for (std::uint64_t k = 0; k < c.values; ++k) {
        if (!addends[k].empty()) {
          auto x = addends[k].begin();
          all[party][k] = (x++)->second;
          for (; x != addends[k].end(); ++x) {
            all[party][k] += x->second;
          }
        }
      }
    }
    has = has_now;
  }
  return all;
}

/// Nodes whose messages arrive in any order.
class random_network {
 public:
  random_network(const collective& c, std::vector<values>& all, const std::vector<std::uint32_t>& node_of,
                 portable_random& random)
      : node_of_(node_of), random_(random) {
    const auto shared = std::make_shared<const collective>(c);
    std::map<std::uint32_t, std::vector<collective_run::party_values>> parties;
    for (std::uint32_t p = 0; p < c.parties; ++p) {
      parties[node_of[p]].push_back({p, all[p]});
    }
    for (const auto& [node, here] : parties) {
      nodes_.emplace(node, collective_run{shared, here});
    }
  }

  /// Returns the number of values sent.
  std::uint64_t run() {
    ask();
    while (!requests_.empty() || !answers_.empty()) {
      deliver_any();
      ask();
    }
    return sent_;
  }

  bool finished() const {
    return std::ranges::all_of(nodes_, [](const auto& n) { return n.second.finished(); });
  }

 private:
  struct answer {
    piece what;
    values bytes;
  };

  void ask() {
    for (auto& [node, run] : nodes_) {
      const auto all = run.wanted();
      requests_.insert(requests_.end(), all.begin(), all.end());
    }
  }

  void deliver_any() {
    const auto n = static_cast<std::uint32_t>(requests_.size() + answers_.size());
    auto i = random_.whole(0, n - 1);
    if (i < requests_.size()) {
      for (std::size_t tried = 0; tried < requests_.size(); ++tried, i = (i + 1) % requests_.size()) {
        const auto p = requests_[i];
        auto& run = nodes_.at(node_of_[p.from]);
        if (run.may_read(p)) {
          run.read(p, [&](std::span<const float> v) { answers_.push_back({p, {v.begin(), v.end()}}); });
          sent_ += p.what.count;
          requests_.erase(requests_.begin() + i);
          return;
        }
      }
      REQUIRE(!answers_.empty());  // else nothing can ever happen again
      i = 0;
    } else {
      i -= static_cast<std::uint32_t>(requests_.size());
    }
    const auto a = answers_.at(i);
    answers_.erase(answers_.begin() + i);
    nodes_.at(node_of_[a.what.to]).arrived(a.what, a.bytes);
  }

  const std::vector<std::uint32_t>& node_of_;
  portable_random& random_;
  std::map<std::uint32_t, collective_run> nodes_;
  std::deque<piece> requests_;
  std::deque<answer> answers_;
  std::uint64_t sent_ = 0;
};

std::vector<std::uint32_t> random_nodes(std::uint32_t parties, portable_random& random) {
  std::vector<std::uint32_t> node_of(parties);
  const auto nodes = random.whole(1, parties);
  for (auto& node : node_of) {
    node = random.whole(0, nodes - 1);
  }
  return node_of;
}

TEST_CASE(
    "collectives: every party has the sum, with the bits of its rounds, whatever the nodes and the order of messages",
    "[collective]") {
  portable_random random{7};
  for (int repeat = 0; repeat < 30; ++repeat) {
    for (const auto kind : all_collective_kinds()) {
      const auto n = random.whole(1, 9);
      const std::uint64_t size = repeat % 5 == 0 ? random.whole(0, 12) : random.whole(1, 3000);
      const auto c = make_collective(kind, n, size);
      auto all = random_values(n, size, random);
      const auto plain = sum_in_order(all);
      const auto expected = replay(c, all);
      all.resize(c.parties, values(size));
      const auto node_of = random_nodes(c.parties, random);
      random_network network{c, all, node_of, random};
      const auto sent = network.run();
      INFO(to_string(kind) << " of " << n << " with " << size << " values");
      REQUIRE(network.finished());
      CHECK(all == expected);
      CHECK(sent == sent_values(c, node_of));
      for (std::uint32_t party = 1; party < n; ++party) {
        CHECK(all[party] == all[0]);
      }
      if (adds_in_order(kind)) {
        CHECK(all[0] == plain);
      }
    }
  }
}

TEST_CASE("collectives: of several parties on a node only one is given the sum by others", "[collective]") {
  portable_random random{13};
  for (int repeat = 0; repeat < 20; ++repeat) {
    const auto nodes = random.whole(1, 4), each = random.whole(1, 3);
    std::vector<std::uint32_t> node_of;
    for (std::uint32_t n = 0; n < nodes; ++n) node_of.insert(node_of.end(), each, n);
    const std::uint64_t size = random.whole(0, 500);
    const auto c = make_direct(node_of, size);
    auto all = random_values(nodes * each, size, random);
    const auto plain = sum_in_order(all);
    random_network network{c, all, node_of, random};
    CHECK(network.run() == std::uint64_t{each + 1} * (nodes - 1) * size);
    REQUIRE(network.finished());
    CHECK(std::ranges::all_of(all, [&](const values& v) { return v == plain; }));
  }
}

TEST_CASE("collectives: all parties have what one has broadcast", "[collective]") {
  portable_random random{5};
  for (std::uint32_t n = 1; n <= 5; ++n) {
    const std::uint64_t size = n == 3 ? 0 : 2 * collective_run::piece_values + n;
    const auto from = random.whole(0, n - 1);
    const auto c = make_broadcast(from, n, size);
    auto all = random_values(n, size, random);
    const auto sent = all[from];
    std::vector<std::uint32_t> node_of(n);
    std::iota(node_of.begin(), node_of.end(), 0U);
    random_network network{c, all, node_of, random};
    CHECK(network.run() == (n - 1) * size);
    REQUIRE(network.finished());
    CHECK(std::ranges::all_of(all, [&](const values& v) { return v == sent; }));
  }
}

TEST_CASE("collectives: values of many pieces", "[collective]") {
  portable_random random{11};
  const std::uint64_t size = 9 * collective_run::piece_values + 77;
  for (const auto kind : all_collective_kinds()) {
    const auto c = make_collective(kind, 4, size);
    auto all = random_values(4, size, random);
    const auto plain = sum_in_order(all);
    all.resize(c.parties, values(size));
    std::vector<std::uint32_t> node_of(c.parties);
    std::iota(node_of.begin(), node_of.end(), 0U);
    random_network network{c, all, node_of, random};
    INFO(to_string(kind));
    CHECK(network.run() == sent_values(c));
    REQUIRE(network.finished());
    CHECK(std::ranges::all_of(all, [&](const values& v) { return v == all[0]; }));
    if (adds_in_order(kind)) {
      CHECK(all[0] == plain);
    }
  }
}

TEST_CASE("collectives: orders that are not that of one process differ from it", "[collective]") {
  portable_random random{3};
  const std::uint64_t size = 1000;
  for (const auto kind : all_collective_kinds()) {
    auto all = random_values(4, size, random);
    const auto plain = sum_in_order(all);
    const auto sum = replay(make_collective(kind, 4, size), all)[0];
    INFO(to_string(kind));
    CHECK((sum == plain) == adds_in_order(kind));
  }
}

TEST_CASE("collectives: volumes are those of the formulas", "[collective]") {
  for (const std::uint64_t size : {0ULL, 1ULL, 5ULL, 4096ULL, 1000003ULL}) {
    for (std::uint64_t n = 1; n <= 17; ++n) {
      const auto volume = [&](collective_kind kind) {
        return sent_values(make_collective(kind, static_cast<std::uint32_t>(n), size));
      };
      CHECK(volume(collective_kind::direct) == 2 * (n - 1) * size);
      CHECK(volume(collective_kind::ring) == 2 * (n - 1) * size);
      CHECK(volume(collective_kind::tree) == 2 * (n - 1) * size);
      CHECK(volume(collective_kind::naive) == n * (n - 1) * size);
      CHECK(volume(collective_kind::parameter_server) == 2 * n * size);
      if (std::has_single_bit(n)) {
        CHECK(volume(collective_kind::butterfly) == n * static_cast<std::uint64_t>(std::bit_width(n) - 1) * size);
      }
    }
  }
}

TEST_CASE("collectives: the ranges of a party in a round are equal or have nothing in common", "[collective]") {
  for (const auto kind : all_collective_kinds()) {
    for (std::uint32_t n = 1; n <= 13; ++n) {
      const auto c = make_collective(kind, n, 1000);
      for (const auto& round : c.rounds) {
        std::map<std::uint32_t, std::set<value_range>> ranges;
        for (const auto& t : round) {
          CHECK(t.from != t.to);
          ranges[t.from].insert(t.what);
          ranges[t.to].insert(t.what);
        }
        for (const auto& [party, all] : ranges) {
          std::uint64_t end = 0;
          for (const auto& r : all) {
            CHECK(r.first >= end);
            end = r.first + r.count;
          }
        }
      }
    }
  }
}

TEST_CASE("collectives: only a few pieces of a transfer are asked for at a time", "[collective]") {
  const auto c =
      std::make_shared<const collective>(make_collective(collective_kind::naive, 3, 20 * collective_run::piece_values));
  values own(c->values);
  collective_run run{c, {{0, own}}};
  CHECK(run.wanted().size() == 2 * collective_run::credit);
  CHECK(run.wanted().empty());
  const piece first{0, 1, 0, {0, collective_run::piece_values}};
  run.arrived(first, values(collective_run::piece_values, 1));
  CHECK(run.wanted().empty());  // that of party 2 is missing, and nobody has read the old one
  run.arrived({0, 2, 0, first.what}, values(collective_run::piece_values, 1));
  run.read({0, 0, 1, first.what}, [](auto) {});
  CHECK(own[0] == 0);
  run.read({0, 0, 2, first.what}, [](auto) {});
  CHECK(own[0] == 2);
  CHECK(run.wanted().size() == 2);
}

TEST_CASE("collectives: pieces that nobody has asked for are refused", "[collective]") {
  const auto c = std::make_shared<const collective>(make_collective(collective_kind::tree, 2, 10));
  values own(10);
  collective_run run{c, {{0, own}}};
  CHECK_THROWS_AS(run.arrived({0, 1, 0, {0, 10}}, values(10)), fault_error);  // not yet
  REQUIRE(run.wanted() == std::vector<piece>{{0, 1, 0, {0, 10}}});
  CHECK_THROWS_AS(run.arrived({0, 1, 0, {0, 10}}, values(9)), fault_error);
  CHECK_THROWS_AS(run.arrived({1, 1, 0, {0, 10}}, values(10)), fault_error);
  CHECK_THROWS_AS(run.arrived({0, 1, 0, {0, 9}}, values(9)), fault_error);
  CHECK_THROWS_AS(run.may_read({0, 0, 1, {0, 10}}), fault_error);  // in the first round 1 reads nothing
  CHECK_THROWS_AS(run.may_read({1, 0, 1, {5, 10}}), fault_error);
  CHECK_THROWS_AS(run.may_read({7, 0, 1, {0, 10}}), fault_error);
  CHECK_FALSE(run.may_read({1, 0, 1, {0, 10}}));
  run.arrived({0, 1, 0, {0, 10}}, values(10, 3));
  CHECK_THROWS_AS(run.arrived({0, 1, 0, {0, 10}}, values(10, 3)), fault_error);
  REQUIRE(run.may_read({1, 0, 1, {0, 10}}));
  run.read({1, 0, 1, {0, 10}}, [](std::span<const float> v) { CHECK(v[9] == 3); });
  CHECK_THROWS_AS(run.may_read({1, 0, 1, {0, 10}}), fault_error);
  CHECK(run.finished());
}

TEST_CASE("collectives: the predicted time of each", "[collective]") {
  const network_rates rates{.latency = 1s, .node = byte_rate{100}, .shared = {}};
  const auto time = [&](collective_kind kind, std::uint32_t n) {
    return predicted_time(make_collective(kind, n, 1200), 4, rates);
  };
  // A node sends and receives 36 s in each of two rounds: three slices of 1200 bytes.
  CHECK(time(collective_kind::direct, 4) == 2 * (1s + 36s));
  CHECK(time(collective_kind::ring, 4) == 6 * (1s + 12s));
  CHECK(time(collective_kind::tree, 4) == 4 * (1s + 48s));
  CHECK(time(collective_kind::butterfly, 4) == 2 * (1s + 48s));
  CHECK(time(collective_kind::naive, 4) == 1s + 3 * 48s);
  CHECK(time(collective_kind::parameter_server, 4) == 2 * (1s + 4 * 48s));
  CHECK(time(collective_kind::naive, 1) == 0s);

  const auto c = make_collective(collective_kind::direct, 4, 1200);
  const std::vector<std::uint32_t> pairs{0, 0, 1, 1};
  CHECK(predicted_time(c, 4, rates, pairs) == 2 * (1s + 48s));  // each node sends two slices to two parties
  const std::vector<std::uint32_t> one(4);
  CHECK(predicted_time(c, 4, rates, one) == 0s);
  CHECK(predicted_time(c, 4, {.latency = 1s, .node = byte_rate{100}, .shared = byte_rate{100}}) == 2 * (1s + 144s));
}

TEST_CASE("collectives: at least one party", "[collective]") {
  CHECK_THROWS_AS(make_collective(collective_kind::ring, 0, 1), fault_error);
}

}  // namespace
}  // namespace hydra
