#include "actors/cluster/exchange.hpp"

#include "actors/cluster/team_exchange.hpp"
#include "actors/protocol/guarded.hpp"
#include "actors/protocol/own_thread.hpp"
#include "runtime/collective/even_parts.hpp"

#include <caf/actor_cast.hpp>
#include <caf/blocking_actor.hpp>
#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

namespace hydra {

using namespace std::chrono_literals;

struct node_exchange::counters {
  std::atomic<std::uint64_t> sent = 0;
  std::atomic<std::int64_t> under_way = 0;
};

namespace {

using lost_sink = std::function<void(const team_failure&)>;

struct form_team {
  formed_team team;
  std::function<void()> formed;
};

/// The members that this node connects to are connected, or not.
struct members_reached {
  std::uint32_t model = 0;
  assignment_epoch epoch = 0;
  std::vector<exchange_actor> members{};  ///< null: others; as far as they could be reached
  fault why{};
  bool tried = true;  ///< else there was no thread to do it
};

struct greet_teams {};

struct team_ready {
  std::uint32_t model = 0;
  assignment_epoch epoch = 0;
  std::uint32_t step = 0;
};

struct disband_team {
  std::uint32_t model = 0;
  assignment_epoch epoch = 0;
};

struct begin_exchange {
  partner_exchange values;
};

}  // namespace

}  // namespace hydra

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hydra::form_team)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hydra::members_reached)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hydra::greet_teams)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hydra::team_ready)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hydra::disband_team)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hydra::begin_exchange)

namespace hydra {

namespace {

using local_exchange =
    exchange_actor::extend<caf::reacts_to<form_team>, caf::reacts_to<members_reached>, caf::reacts_to<greet_teams>,
                           caf::reacts_to<team_ready>, caf::reacts_to<disband_team>, caf::reacts_to<begin_exchange>>;

constexpr std::size_t most_early = 1024;  ///< greetings that are kept; members that are not kept greet again
constexpr caf::timespan greet_interval = 1s;
/// The COORDINATOR sees no connection between members, and CAF 0.17.6 not all that happens on one: where a member gives
/// it up first and makes it again in time, the other end keeps its handles, and is not told when their actors end.
constexpr duration silence_limit = 20s;

std::vector<std::uint32_t> nodes_of(const formed_team& t) {
  std::vector<std::uint32_t> parts;
  std::ranges::transform(t.members, std::back_inserter(parts), &team_member::replicas);
  return nodes_of_replicas(parts);
}

/// Of two members the same one connects for all models: connections both ways at the same time end each other.
bool connects_to(const formed_team& t, std::size_t other) {
  return t.members[t.here].address < t.members[other].address;
}

/// A thread of its own: it adds what has come.
class exchange final : public local_exchange::base {
 public:
  using super = local_exchange::base;

  exchange(caf::actor_config& config, cluster_network& network, lost_sink lost, collective_kind adds_by,
           std::function<void(const exchange_totals&)> count)
      : super(config), network_(network), lost_(std::move(lost)), adds_by_(adds_by), count_(std::move(count)) {}
  const char* name() const override { return "exchange"; }

  behavior_type make_behavior() override {
    set_down_handler([this](const caf::down_msg& m) { on_down(m); });
    return {guarded(this, &exchange::on_given_values), guarded(this, &exchange::on_want_values),
            guarded(this, &exchange::on_greeting),     guarded(this, &exchange::on_form_team),
            guarded(this, &exchange::on_reached),      guarded(this, &exchange::on_greet),
            guarded(this, &exchange::on_ready),        guarded(this, &exchange::on_disband),
            guarded(this, &exchange::on_begin)};
  }

  void on_exit() override {
    for (auto& [model, team] : teams_) {
      end(team, {fault_code::cancelled, "the node has ended"});
    }
    teams_.clear();
    early_.clear();
  }

  /// Of a message that no honest node sends.
  void on_fault(const fault& why) {
    while (!teams_.empty()) {
      lose(teams_.begin()->first, why);
    }
  }

  // -- teams -------------------------------------------------------------------------------------------------------

  void on_form_team(const form_team& m) {
    const auto& t = m.team;
    if (const auto before = teams_.find(t.model); before != teams_.end()) {
      end(before->second, {fault_code::cancelled, "the team was formed again"});
      teams_.erase(before);
    }
    teams_.emplace(t.model,
                   open_team{.what = t,
                             .exchanges = {t.model, t.epoch, nodes_of(t), static_cast<std::uint32_t>(t.here), adds_by_},
                             .members = std::vector<exchange_actor>(t.members.size()),
                             .heard = std::vector<time_point>(t.members.size(), clock().now()),
                             .steps = std::vector<std::optional<std::uint32_t>>(t.members.size()),
                             .forming = m.formed});
    connect(t);
    for (const auto& g : take_early(t.model, t.epoch)) {
      on_greeting(g);  // it may be over then
    }
    if (!std::exchange(greets_, true)) {
      on_greet({});
    }
  }

  /// It takes time.
  void connect(const formed_team& t) {
    const auto reach = [self = self_handle(), network = &network_, t](caf::blocking_actor*) {
      members_reached answer{.model = t.model, .epoch = t.epoch};
      try {
        for (std::size_t i = 0; i < t.members.size(); ++i) {
          answer.members.push_back(connects_to(t, i)
                                       ? network->reach<exchange_actor>(parse_address(t.members[i].address))
                                       : exchange_actor{});
        }
      } catch (...) {
        answer.why = to_fault(std::current_exception());
      }
      post(self, std::move(answer));
    };
    try {
      run_on_own_thread(system(), reach);
    } catch (const fault_error& e) {
      post(self_handle(),
           members_reached{.model = t.model, .epoch = t.epoch, .why = e.what_happened(), .tried = false});
    }
  }

  void on_reached(const members_reached& m) {
    auto* team = find(m.model, m.epoch);
    if (team && m.why) {
      lose(m.model, m.why, m.tried ? std::optional{m.members.size()} : std::nullopt);
    } else if (team) {
      for (std::size_t i = 0; i < m.members.size(); ++i) {
        if (m.members[i]) {
          add_member(*team, i, m.members[i]);
        }
      }
      greet(*team);
      check_formed(*team);
    }
  }

  void on_greeting(const team_greeting& m) {
    auto* team = find(m.model, m.epoch);
    if (!team) {
      return keep_early(m);
    }
    if (m.place >= team->members.size()) {
      return;
    }
    team->heard[m.place] = clock().now();
    if (!team->members[m.place]) {
      add_member(*team, m.place, m.from);
      greet(*team);  // what this node has said before that one was known
    }
    if (m.ready) {
      team->steps[m.place] = m.step;
    }
    check_formed(*team);
  }

  void on_ready(const team_ready& m) {
    if (auto* team = find(m.model, m.epoch)) {
      team->steps[team->what.here] = m.step;
      greet(*team);
      check_formed(*team);
    }
  }

  void on_greet(const greet_teams&) {
    for (const auto& [model, team] : teams_) {
      greet(team);
    }
    const auto limit = clock().now() - silence_limit;
    lose_members([&](const open_team& team, std::size_t i) { return team.heard[i] < limit; },
                 "another node that trains it does not answer");
    greets_ = !teams_.empty();
    if (greets_) {
      delayed_send(this, greet_interval, greet_teams{});
    }
  }

  void on_disband(const disband_team& m) {
    if (auto* team = find(m.model, m.epoch)) {
      end(*team, {fault_code::cancelled, "the model is trained elsewhere"});
      teams_.erase(m.model);
    }
  }

  void on_down(const caf::down_msg& m) {
    lose_members(
        [&](const open_team& team, std::size_t i) { return team.members[i] && team.members[i].address() == m.source; },
        "another node that trains it is lost");
  }

  template <class Lost>
  void lose_members(const Lost& lost, const char* why) {
    std::map<std::uint32_t, std::size_t> found;  // by model, the first one
    for (const auto& [model, team] : teams_) {
      for (std::size_t i = 0; i < team.members.size(); ++i) {
        if (i != team.what.here && lost(team, i)) {
          found.emplace(model, i);
        }
      }
    }
    for (const auto& [model, member] : found) {
      lose(model, {fault_code::io, why}, member);
    }
  }

  void lose(std::uint32_t model, const fault& why, std::optional<std::size_t> member = {}) {
    auto team = teams_.extract(model).mapped();
    end(team, why);
    team_failure failure{.model = model, .epoch = team.what.epoch, .why = why};
    if (member) {
      failure.member = static_cast<std::uint32_t>(*member);
    }
    lost_(failure);
  }

  // -- values ------------------------------------------------------------------------------------------------------

  void on_begin(const begin_exchange& m) {
    const auto team = std::ranges::find_if(teams_, [&](const auto& t) {
      return t.second.what.name == m.values.model && t.second.what.epoch == m.values.team && !t.second.forming;
    });
    if (team == teams_.end()) {
      return m.values.done({fault_code::cancelled, "no other node trains the model"});
    }
    auto& open = team->second;
    if (open.running++ == 0) {
      open.since = clock().now();
    }
    open.exchanges.begin(m.values);
    go_on(open);
  }

  /// It never comes before the team: the others begin when this node has greeted them as ready.
  void on_want_values(const want_values& m) {
    if (auto* team = find(m.of.model, m.of.epoch)) {
      team->exchanges.wanted(m);
      go_on(*team);
    }
  }

  void on_given_values(const given_values& m) {
    auto* team = find(m.of.model, m.of.epoch);
    if (!team) {
      return;
    }
    try {
      team->exchanges.arrived(m);
    } catch (const fault_error& e) {
      return lose(m.of.model, e.what_happened());
    }
    go_on(*team);
  }

 private:
  struct open_team {
    formed_team what;
    team_exchange exchanges;
    std::vector<exchange_actor> members;              ///< null: not known yet, or this node
    std::vector<time_point> heard;                    ///< of each
    std::vector<std::optional<std::uint32_t>> steps;  ///< of the states of those that are ready
    std::function<void()> forming;                    ///< null: it is formed
    std::size_t running = 0;
    time_point since{};  ///< some exchanges are under way
  };

  open_team* find(std::uint32_t model, assignment_epoch epoch) {
    const auto found = teams_.find(model);
    return found != teams_.end() && found->second.what.epoch == epoch ? &found->second : nullptr;
  }

  /// An older one is late. Model and place are what the sender says.
  void keep_early(const team_greeting& m) {
    if (early_.size() >= most_early && !early_.contains({m.model, m.place})) {
      return;
    }
    auto& early = early_[{m.model, m.place}];
    if (m.epoch >= early.epoch) {
      early = m;
    }
  }

  /// What members of the team have said before this node was told of it; what was said in older ones is dropped.
  std::vector<team_greeting> take_early(std::uint32_t model, assignment_epoch epoch) {
    std::vector<team_greeting> its;
    std::erase_if(early_, [&](const auto& early) {
      const auto& g = early.second;
      if (g.model == model && g.epoch == epoch) {
        its.push_back(g);
      }
      return g.model == model && g.epoch <= epoch;
    });
    return its;
  }

  void add_member(open_team& team, std::size_t place, const exchange_actor& member) {
    team.members[place] = member;
    monitor(member);
  }

  void greet(const open_team& team) {
    const auto here = team.what.here;
    for (const auto& member : team.members) {
      if (member) {
        send(member, team_greeting{team.what.model, team.what.epoch, static_cast<std::uint32_t>(here),
                                   team.steps[here].has_value(), team.steps[here].value_or(0),
                                   caf::actor_cast<exchange_actor>(this)});
      }
    }
  }

  /// All members are known and ready.
  void check_formed(open_team& team) {
    const auto known =
        std::ranges::count_if(team.members, [](const exchange_actor& a) { return static_cast<bool>(a); });
    const bool ready = std::ranges::all_of(team.steps, [](const auto& step) { return step.has_value(); });
    const bool all = ready && static_cast<std::size_t>(known) + 1 == team.members.size();
    if (!team.forming || !all) {
      return;
    }
    if (std::ranges::count(team.steps, team.steps.front()) != static_cast<std::ptrdiff_t>(team.steps.size())) {
      greet(team);  // the others see it, too
      return lose(team.what.model, {fault_code::io, "nodes that train it together have states of different steps"});
    }
    std::exchange(team.forming, nullptr)();
  }

  /// The team may be lost afterwards.
  void go_on(open_team& team) {
    team_exchange::actions now;
    try {
      now = team.exchanges.go_on();
    } catch (const fault_error& e) {
      return lose(team.what.model, e.what_happened());
    }
    for (auto& [to, values] : now.answers) {
      count_({.sent = byte_count{values.values.size() * sizeof(float)}});
      send(to, std::move(values));
    }
    for (const auto& r : now.requests) {
      send(team.members.at(r.member), want_values{r.of, r.what, caf::actor_cast<value_receiver>(this)});
    }
    for (const auto& e : now.finished) {
      e.done({});
      if (--team.running == 0) {
        count_({.under_way = clock().now() - team.since});
      }
    }
  }

  static void end(open_team& team, const fault& why) {
    for (const auto& e : team.exchanges.cancel()) {
      e.done(why);
    }
  }

  local_exchange self_handle() { return caf::actor_cast<local_exchange>(this); }

  cluster_network& network_;
  lost_sink lost_;
  collective_kind adds_by_;
  std::function<void(const exchange_totals&)> count_;
  std::map<std::uint32_t, open_team> teams_;  ///< by model
  /// By model and place, of the newest team: greetings that came before this node was told of it.
  std::map<std::pair<std::uint32_t, std::uint32_t>, team_greeting> early_;
  bool greets_ = false;
};

}  // namespace

node_exchange::node_exchange(cluster_network& network, lost_sink lost, collective_kind adds_by)
    : network_(network), counters_(std::make_shared<counters>()) {
  const auto count = [counters = counters_](const exchange_totals& more) {
    counters->sent += more.sent.value();
    counters->under_way += more.under_way.count();
  };
  actor_ = caf::actor_cast<caf::actor>(
      spawn_on_own_thread<hydra::exchange>(network.system(), network, std::move(lost), adds_by, count));
}

exchange_totals node_exchange::totals() const {
  return {.sent = byte_count{counters_->sent}, .under_way = duration{counters_->under_way}};
}

node_exchange::~node_exchange() {
  if (port_ != 0) {
    network_.close(actor_.address(), port_);
  }
  caf::anon_send_exit(actor_, caf::exit_reason::user_shutdown);
}

/// At all addresses of this machine, unless others cannot reach it there.
std::string node_exchange::listen(const std::string& host) {
  const auto at = is_loopback(host) ? host : host.find(':') == std::string::npos ? "0.0.0.0" : "::";
  port_ = network_.listen(caf::actor_cast<exchange_actor>(actor_), {at, 0});
  return to_string(network_address{host, port_});
}

void node_exchange::form(formed_team team, std::function<void()> formed) {
  caf::anon_send(actor_, form_team{std::move(team), std::move(formed)});
}

void node_exchange::ready(std::uint32_t model, assignment_epoch epoch, std::uint32_t step) {
  caf::anon_send(actor_, team_ready{model, epoch, step});
}

void node_exchange::disband(std::uint32_t model, assignment_epoch epoch) {
  caf::anon_send(actor_, disband_team{model, epoch});
}

void node_exchange::exchange(partner_exchange values) { caf::anon_send(actor_, begin_exchange{std::move(values)}); }

}  // namespace hydra
