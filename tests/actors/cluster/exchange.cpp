// EXCHANGE over the loopback interface: teams that are formed, and those that cannot go on.

#include "actors/cluster/exchange.hpp"
#include "actors/cluster/network.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

using namespace hydra;
using namespace std::chrono_literals;

namespace {

template <class Value>
Value awaited(std::promise<Value>& promise) {
  auto answer = promise.get_future();
  REQUIRE(answer.wait_for(60s) == std::future_status::ready);
  return answer.get();
}

/// A node that belongs to one team at a time.
class team_node {
 public:
  explicit team_node(const test::temporary_folder& cluster)
      : network_(take_keys_of_run(cluster.path()), add_cluster_messages),
        exchange_(std::make_unique<node_exchange>(network_, [this](const team_failure& f) { lost_.set_value(f); })) {
    address_ = exchange_->listen("127.0.0.1");
  }

  const std::string& address() const { return address_; }
  void form(const std::vector<team_member>& members, std::size_t here, assignment_epoch epoch, std::uint32_t step) {
    formed_ = {};
    exchange_->form({.model = 3, .name = "m", .epoch = epoch, .members = members, .here = here},
                    [this] { formed_.set_value(true); });
    exchange_->ready(3, epoch, step);
  }
  bool formed() { return awaited(formed_); }
  team_failure lost() { return awaited(lost_); }

  /// Of one value for each of two replicas.
  void add(std::vector<float>& own, std::size_t here, std::uint64_t team, std::uint64_t number) {
    done_ = {};
    partner_exchange e{.model = "m",
                       .team = team,
                       .number = number,
                       .adds = true,
                       .replicas = std::vector<std::span<float>>(2),
                       .done = [this](const fault& why) { done_.set_value(why); }};
    e.replicas[here] = own;
    exchange_->exchange(std::move(e));
  }
  fault done() { return awaited(done_); }
  exchange_totals totals() const { return exchange_->totals(); }
  void die() { exchange_.reset(); }

 private:
  std::promise<bool> formed_;
  std::promise<team_failure> lost_;
  std::promise<fault> done_;
  cluster_network network_;
  std::unique_ptr<node_exchange> exchange_;
  std::string address_;
};

std::vector<team_member> members_of(const team_node& a, const team_node& b) {
  return {{a.address(), 1}, {b.address(), 1}};
}

}  // namespace

TEST_CASE("two nodes form a team, add their values, and form another one", "[exchange]") {
  const test::temporary_folder cluster;
  team_node a(cluster), b(cluster);
  const auto members = members_of(a, b);
  for (const assignment_epoch epoch : {1, 2}) {
    a.form(members, 0, epoch, 7);
    b.form(members, 1, epoch, 7);
    CHECK(a.formed());
    CHECK(b.formed());
    std::vector<float> x{1, 2, 3}, y{10, 20, 30};
    a.add(x, 0, epoch, 5);
    b.add(y, 1, epoch, 5);
    CHECK(a.done().code == fault_code::none);
    CHECK(b.done().code == fault_code::none);
    CHECK(x == std::vector<float>{11, 22, 33});
    CHECK(y == x);
    CHECK(a.totals().sent + b.totals().sent == byte_count{6 * sizeof(float)} * epoch);
  }
}

TEST_CASE("an exchange of an earlier team is cancelled", "[exchange]") {
  const test::temporary_folder cluster;
  team_node a(cluster), b(cluster);
  const auto members = members_of(a, b);
  a.form(members, 0, 2, 7);
  b.form(members, 1, 2, 7);
  CHECK(a.formed());
  std::vector<float> x{1};
  a.add(x, 0, 1, 5);
  CHECK(a.done().code == fault_code::cancelled);
  CHECK(x[0] == 1);
}

TEST_CASE("nodes with states of different steps form no team", "[exchange]") {
  const test::temporary_folder cluster;
  team_node a(cluster), b(cluster);
  const auto members = members_of(a, b);
  a.form(members, 0, 1, 7);
  b.form(members, 1, 1, 8);
  CHECK_THAT(a.lost().why.text, Catch::Contains("different steps"));
}

TEST_CASE("a member that ends is named, and what was under way is cancelled", "[exchange]") {
  const test::temporary_folder cluster;
  team_node a(cluster), b(cluster);
  const auto members = members_of(a, b);
  a.form(members, 0, 1, 7);
  b.form(members, 1, 1, 7);
  CHECK(a.formed());
  CHECK(b.formed());
  std::vector<float> x{1};
  a.add(x, 0, 1, 5);
  b.die();
  const auto failure = a.lost();
  CHECK(failure.model == 3);
  CHECK(failure.epoch == 1);
  CHECK(failure.why.code == fault_code::io);
  CHECK(failure.member == 1u);
  CHECK(a.done().code == fault_code::io);
}

TEST_CASE("a member that cannot be reached is named", "[exchange]") {
  const test::temporary_folder cluster;
  team_node a(cluster);
  // It is the one with the smaller address that connects.
  a.form({{a.address(), 1}, {"127.0.0.9:1", 1}}, 0, 1, 7);
  const auto failure = a.lost();
  CHECK(failure.member == 1u);
  CHECK(failure.why.code == fault_code::io);
}
