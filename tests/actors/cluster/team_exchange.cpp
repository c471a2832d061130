// What nodes that train a model together exchange, whatever the order of their messages.

#include "actors/cluster/team_exchange.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/base/portable_random.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <variant>
#include <vector>

using namespace hydra;

namespace {

using values = std::vector<float>;

/// The exchanges of a few nodes, in one process.
class nodes {
 public:
  nodes(const std::vector<std::uint32_t>& node_of, portable_random& random,
        collective_kind kind = collective_kind::direct)
      : random_(random) {
    const auto members = std::ranges::max(node_of) + 1;
    for (std::uint32_t i = 0; i < members; ++i) all_.emplace_back(7, 3, node_of, i, kind);
  }

  team_exchange& operator[](std::size_t n) { return all_[n]; }

  void run() {
    for (std::uint32_t n = 0; n < all_.size(); ++n) go_on(n);
    while (!mail_.empty()) {
      const auto i = random_.whole(0, static_cast<std::uint32_t>(mail_.size()) - 1);
      const auto next = mail_[i];
      mail_.erase(mail_.begin() + i);
      if (const auto* want = std::get_if<want_values>(&next.what)) {
        all_[next.to].wanted(*want);
      } else {
        all_[next.to].arrived(std::get<given_values>(next.what));
      }
      go_on(next.to);
    }
  }

 private:
  struct letter {
    std::uint32_t from = 0, to = 0;
    std::variant<want_values, given_values> what;
  };

  /// Answers name no node here: whoever wanted the piece for a party of its own gets it.
  void go_on(std::uint32_t n) {
    const auto now = all_[n].go_on();
    for (const auto& [to, given] : now.answers) mail_.push_back({n, wanted_by(given), given});
    for (const auto& r : now.requests) {
      mail_.push_back({n, r.member, want_values{r.of, r.what, {}}});
      requests_.push_back({r.of, r.what, n});
    }
    for (const auto& e : now.finished) e.done({});
  }

  std::uint32_t wanted_by(const given_values& given) {
    const auto found =
        std::ranges::find_if(requests_, [&](const auto& r) { return r.of == given.of && r.what == given.what; });
    REQUIRE(found != requests_.end());
    return found->by;
  }

  struct request {
    exchange_part of;
    piece what;
    std::uint32_t by = 0;
  };
  portable_random& random_;
  std::vector<team_exchange> all_;
  std::deque<letter> mail_;
  std::vector<request> requests_;
};

values random_values(std::size_t n, portable_random& random) {
  values all(n);
  for (auto& x : all)
    x = static_cast<float>(random.uniform(-1, 1) * std::ldexp(1.0, static_cast<int>(random.whole(0, 20))));
  return all;
}

}  // namespace

TEST_CASE("nodes of a team have the sums and the values of all replicas", "[team-exchange]") {
  portable_random random{5};
  for (int repeat = 0; repeat < 20; ++repeat) {
    const auto members = random.whole(1, 4);
    std::vector<std::uint32_t> node_of;
    for (std::uint32_t n = 0; n < members; ++n) node_of.insert(node_of.end(), random.whole(1, 3), n);
    const auto replicas = node_of.size();
    nodes team(node_of, random);

    struct operation {
      bool adds = false;
      std::vector<values> before;                // of each replica
      std::vector<std::vector<values>> of_node;  // as it goes on
    };
    std::vector<operation> operations(5);
    int done = 0;
    std::uint64_t numbers = 0;
    for (auto& o : operations) {
      numbers += random.whole(1, 3);
      o.adds = random.whole(0, 1) == 1;
      const auto size = random.whole(0, 3) == 0 ? random.whole(0, 2) : random.whole(1, 200000);
      for (std::size_t r = 0; r < replicas; ++r) o.before.push_back(random_values(size, random));
      o.of_node.resize(members);
      for (std::uint32_t n = 0; n < members; ++n) {
        for (std::size_t r = 0; r < replicas; ++r)
          o.of_node[n].push_back(node_of[r] == n ? o.before[r] : values(o.adds ? 0 : size));
        partner_exchange e{
            .model = "m", .number = numbers, .adds = o.adds, .replicas = {}, .done = [&](const fault& why) {
              done += why ? 0 : 1;
            }};
        for (auto& v : o.of_node[n]) e.replicas.emplace_back(v);
        team[n].begin(std::move(e));
      }
    }
    team.run();
    CHECK(done == static_cast<int>(operations.size() * members));
    for (const auto& o : operations) {
      auto sum = o.before.front();
      for (std::size_t r = 1; r < replicas; ++r) std::ranges::transform(sum, o.before[r], sum.begin(), std::plus{});
      for (std::uint32_t n = 0; n < members; ++n)
        for (std::size_t r = 0; r < replicas; ++r)
          if (!o.adds || node_of[r] == n) CHECK(o.of_node[n][r] == (o.adds ? sum : o.before[r]));
    }
  }
}

namespace {

/// What each replica has after an exchange on these nodes.
std::vector<values> added(std::vector<values> all, const std::vector<std::uint32_t>& node_of, collective_kind kind,
                          portable_random& random) {
  nodes team(node_of, random, kind);
  const auto members = std::ranges::max(node_of) + 1;
  std::uint32_t done = 0;
  for (std::uint32_t n = 0; n < members; ++n) {
    partner_exchange e{.model = "m", .number = 0, .adds = true, .replicas = {}, .done = [&](const fault&) { ++done; }};
    for (std::size_t r = 0; r < all.size(); ++r)
      e.replicas.push_back(node_of[r] == n ? std::span(all[r]) : std::span<float>{});
    team[n].begin(std::move(e));
  }
  team.run();
  REQUIRE(done == members);
  return all;
}

}  // namespace

TEST_CASE("every kind of collective has the bits of its rounds in one process, on any number of nodes",
          "[team-exchange]") {
  portable_random random{9};
  for (const auto kind : all_collective_kinds()) {
    for (const std::uint32_t replicas : {2, 3, 4, 8}) {
      std::vector<values> all;
      for (std::uint32_t r = 0; r < replicas; ++r) all.push_back(random_values(400000, random));
      const auto alone = added(all, std::vector<std::uint32_t>(replicas), kind, random);
      auto plain = all.front();
      for (std::uint32_t r = 1; r < replicas; ++r) std::ranges::transform(plain, all[r], plain.begin(), std::plus{});
      for (std::uint32_t members = 2; members <= replicas; ++members) {
        std::vector<std::uint32_t> node_of;
        for (std::uint32_t r = 0; r < replicas; ++r) node_of.push_back(r * members / replicas);
        INFO(to_string(kind) << " of " << replicas << " on " << members);
        CHECK(added(all, node_of, kind, random) == alone);
      }
      CHECK((alone.front() == plain || !adds_in_order(kind)));
      CHECK(std::ranges::all_of(alone, [&](const values& v) { return v == alone.front(); }));
    }
  }
}

TEST_CASE("a team does a few operations at a time, and all that are open are cancelled", "[team-exchange]") {
  team_exchange here(7, 3, {0, 1}, 0);
  std::vector<values> all(5, values(10));
  int cancelled = 0;
  std::uint64_t numbers = 0;
  for (auto& v : all)
    here.begin({.model = "m", .number = numbers++, .adds = true, .replicas = {v, {}}, .done = [&](const fault&) {
                  ++cancelled;
                }});
  const auto requests = here.go_on().requests;
  REQUIRE(requests.size() == 2);
  CHECK(requests[0].of == exchange_part{7, 3, 0, 0});
  CHECK(requests[1].of == exchange_part{7, 3, 1, 0});
  here.wanted({{7, 3, 2, 0}, {0, 0, 1, {5, 5}}, {}});
  CHECK(here.go_on().answers.empty());  // not begun
  here.wanted({{7, 3, 0, 0}, {0, 0, 1, {5, 5}}, {}});
  CHECK(here.go_on().answers.size() == 1);
  here.wanted({{7, 3, 0, 5}, {0, 0, 1, {5, 5}}, {}});
  CHECK_THROWS_AS(here.go_on(), fault_error);
  CHECK_THROWS_AS(here.arrived({{7, 3, 4, 0}, {}, {}}), fault_error);
  for (const auto& e : here.cancel()) e.done({fault_code::cancelled, "enough"});
  CHECK(cancelled == 5);
}
