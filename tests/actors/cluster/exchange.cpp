// EXCHANGE over the loopback interface: teams that are formed, and those that cannot go on.

#include "actors/cluster/exchange.hpp"
#include "actors/cluster/network.hpp"
#include "tests/support/gate.hpp"
#include "tests/support/temporary_folder.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <catch2/catch.hpp>

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace hydra;

namespace {

template <class Value>
Value awaited(std::promise<Value>& promise) {
  auto answer = promise.get_future();
  REQUIRE(answer.wait_for(test::patience) == std::future_status::ready);
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

/// The second member of a team, which says what a test wants: each greeting once.
class scripted_member {
 public:
  scripted_member(const test::temporary_folder& cluster, const team_node& other)
      : network_(take_keys_of_run(cluster.path()), add_cluster_messages),
        self_(network_.system().spawn([this](exchange_actor::pointer) { return ears(); })),
        other_(network_.reach<exchange_actor>(parse_address(other.address()))) {}
  ~scripted_member() { caf::anon_send_exit(self_, caf::exit_reason::user_shutdown); }
  scripted_member(const scripted_member&) = delete;
  scripted_member& operator=(const scripted_member&) = delete;

  /// It is ready, with the state after so many steps.
  void greet(assignment_epoch epoch, std::uint32_t step) {
    post(other_, team_greeting{.model = 3, .epoch = epoch, .place = 1, .ready = true, .step = step, .from = self_});
  }
  /// Of the ten values of the first replica those that this member adds.
  void want(assignment_epoch epoch, std::uint64_t number) {
    post(other_, want_values{{3, epoch, number, 0}, {0, 0, 1, {5, 5}}, caf::actor_cast<value_receiver>(self_)});
  }
  assignment_epoch was_greeted() { return awaited(greeted_); }
  given_values was_given() { return awaited(given_); }

 private:
  exchange_actor::behavior_type ears() {
    return {[this](const given_values& m) { given_.set_value(m); }, [](const want_values&) {},
            [this](const team_greeting& m) {
              if (!std::exchange(heard_, true)) greeted_.set_value(m.epoch);
            }};
  }

  std::promise<assignment_epoch> greeted_;
  std::promise<given_values> given_;
  bool heard_ = false;
  cluster_network network_;
  exchange_actor self_, other_;
};

/// With a scripted member, which has connected: "0" is the smaller address.
std::vector<team_member> members_of(const team_node& a) { return {{a.address(), 1}, {"0", 1}}; }

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

TEST_CASE("what a member says of a team before this node is told of it is not lost, and what is late has no effect",
          "[exchange]") {
  const test::temporary_folder cluster;
  team_node a(cluster);
  scripted_member b(cluster, a);
  a.form(members_of(a), 0, 6, 7);
  b.greet(7, 20);  // the assignment of epoch 7 is on its way to the other one
  b.greet(5, 3);
  b.greet(6, 7);
  CHECK(b.was_greeted() == 6);  // so all of them have been read
  CHECK(a.formed());
  a.form(members_of(a), 0, 7, 20);
  CHECK(a.formed());
  std::vector<float> x{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  a.add(x, 0, 7, 2);
  b.want(6, 2);
  b.want(7, 2);
  const auto given = b.was_given();
  CHECK(given.of == exchange_part{3, 7, 2, 0});
  CHECK(given.values == std::vector<float>{5, 6, 7, 8, 9});
  a.die();
  CHECK(a.done().code == fault_code::cancelled);
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
