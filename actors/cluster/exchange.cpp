#include "actors/cluster/exchange.hpp"

#include "actors/cluster/team_exchange.hpp"
#include "actors/protocol/guarded.hpp"

#include <caf/actor_cast.hpp>
#include <caf/blocking_actor.hpp>
#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <optional>
#include <utility>

namespace hydra {

namespace {

using done_sink = std::function<void(const fault&)>;
using lost_sink = std::function<void(std::uint32_t model, assignment_epoch epoch, const fault& why)>;

struct form_team {
  formed_team team;
  done_sink done;
};

/// The other members are connected, or not.
struct team_reached {
  formed_team team;
  std::vector<exchange_actor> members{};  ///< null: this node
  fault why{};
  done_sink done;
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
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hydra::team_reached)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hydra::disband_team)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hydra::begin_exchange)

namespace hydra {

namespace {

using local_exchange = exchange_actor::extend<caf::reacts_to<form_team>, caf::reacts_to<team_reached>,
                                              caf::reacts_to<disband_team>, caf::reacts_to<begin_exchange>>;

constexpr std::size_t most_early = 1024;  ///< requests that come before this node has formed its team

std::vector<std::uint32_t> nodes_of_replicas(const formed_team& t) {
  std::vector<std::uint32_t> node_of;
  for (std::uint32_t i = 0; i < t.members.size(); ++i) {
    node_of.insert(node_of.end(), t.members[i].replicas, i);
  }
  return node_of;
}

/// A thread of its own: it adds what has come.
class exchange final : public local_exchange::base {
 public:
  using super = local_exchange::base;

  exchange(caf::actor_config& config, cluster_network& network, lost_sink lost)
      : super(config), network_(network), lost_(std::move(lost)) {}
  const char* name() const override { return "exchange"; }

  behavior_type make_behavior() override {
    set_down_handler([this](const caf::down_msg& m) { on_down(m); });
    return {guarded(this, &exchange::on_given_values), guarded(this, &exchange::on_want_values),
            guarded(this, &exchange::on_form_team),    guarded(this, &exchange::on_team_reached),
            guarded(this, &exchange::on_disband),      guarded(this, &exchange::on_begin)};
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

  /// Connecting takes time.
  void on_form_team(const form_team& m) {
    system().spawn<caf::detached>([self = self_handle(), network = &network_, m](caf::blocking_actor*) {
      team_reached answer{.team = m.team, .done = m.done};
      try {
        for (std::size_t i = 0; i < m.team.members.size(); ++i) {
          answer.members.push_back(i == m.team.here
                                       ? exchange_actor{}
                                       : network->reach<exchange_actor>(parse_address(m.team.members[i].address)));
        }
      } catch (...) {
        answer.why = to_fault(std::current_exception());
      }
      post(self, std::move(answer));
    });
  }

  void on_team_reached(const team_reached& m) {
    if (!m.why) {
      const auto& t = m.team;
      if (const auto before = teams_.find(t.model); before != teams_.end()) {
        end(before->second, {fault_code::cancelled, "the team was formed again"});
        teams_.erase(before);
      }
      const auto here = static_cast<std::uint32_t>(t.here);
      auto& team = teams_
                       .emplace(t.model, open_team{t.name, team_exchange(t.model, t.epoch, nodes_of_replicas(t), here),
                                                   m.members})
                       .first->second;
      for (const auto& member : m.members) {
        if (member) {
          monitor(member);
        }
      }
      std::erase_if(early_, [&](const want_values& wanted) {
        const bool its = wanted.of.model == t.model && wanted.of.epoch == t.epoch;
        if (its) {
          team.exchanges.wanted(wanted);
        }
        return its || (wanted.of.model == t.model && wanted.of.epoch < t.epoch);
      });
    }
    m.done(m.why);
  }

  void on_disband(const disband_team& m) {
    if (auto* team = find(m.model, m.epoch)) {
      end(*team, {fault_code::cancelled, "the model is trained elsewhere"});
      teams_.erase(m.model);
    }
  }

  void on_down(const caf::down_msg& m) {
    std::vector<std::uint32_t> lost;
    for (const auto& [model, team] : teams_) {
      if (std::ranges::any_of(team.members, [&](const auto& a) { return a && a.address() == m.source; })) {
        lost.push_back(model);
      }
    }
    for (const auto model : lost) {
      lose(model, {fault_code::io, "another node that trains it is lost"});
    }
  }

  void lose(std::uint32_t model, const fault& why) {
    auto team = teams_.extract(model);
    end(team.mapped(), why);
    lost_(model, team.mapped().exchanges.epoch(), why);
  }

  // -- values ------------------------------------------------------------------------------------------------------

  void on_begin(const begin_exchange& m) {
    const auto team = std::ranges::find(teams_, m.values.model, [](const auto& t) { return t.second.name; });
    if (team == teams_.end()) {
      return m.values.done({fault_code::cancelled, "no other node trains the model"});
    }
    team->second.exchanges.begin(m.values);
    go_on(team->second);
  }

  void on_want_values(const want_values& m) {
    const auto known = teams_.find(m.of.model);
    if (auto* team = find(m.of.model, m.of.epoch)) {
      team->exchanges.wanted(m);
      go_on(*team);
    } else if (early_.size() < most_early && (known == teams_.end() || known->second.exchanges.epoch() < m.of.epoch)) {
      early_.push_back(m);
    }
  }

  void on_given_values(const given_values& m) {
    if (auto* team = find(m.of.model, m.of.epoch)) {
      team->exchanges.arrived(m);
      go_on(*team);
    }
  }

 private:
  struct open_team {
    std::string name;
    team_exchange exchanges;
    std::vector<exchange_actor> members;
  };

  open_team* find(std::uint32_t model, assignment_epoch epoch) {
    const auto found = teams_.find(model);
    return found != teams_.end() && found->second.exchanges.epoch() == epoch ? &found->second : nullptr;
  }

  void go_on(open_team& team) {
    for (bool changed = true; changed;) {
      auto answers = team.exchanges.answers();
      for (auto& [to, values] : answers) {
        send(to, std::move(values));
      }
      for (const auto& r : team.exchanges.requests()) {
        send(team.members.at(r.member), want_values{r.of, r.what, caf::actor_cast<value_receiver>(this)});
      }
      const auto finished = team.exchanges.take_finished();
      for (const auto& e : finished) {
        e.done({});
      }
      changed = !finished.empty();
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
  std::map<std::uint32_t, open_team> teams_;  ///< by model
  std::vector<want_values> early_;
};

}  // namespace

node_exchange::node_exchange(cluster_network& network, lost_sink lost)
    : network_(network),
      actor_(caf::actor_cast<caf::actor>(
          network.system().spawn<hydra::exchange, caf::detached>(network, std::move(lost)))) {}

node_exchange::~node_exchange() {
  if (port_ != 0) {
    network_.close(actor_.address(), port_);
  }
  caf::anon_send_exit(actor_, caf::exit_reason::user_shutdown);
}

/// Without keys only this machine may reach it.
std::string node_exchange::listen(const network_address& near) {
  const auto own = address_towards(near);
  port_ = network_.listen(caf::actor_cast<exchange_actor>(actor_), {own, 0});
  return to_string(network_address{own, port_});
}

void node_exchange::form(formed_team team, std::function<void(const fault&)> done) {
  caf::anon_send(actor_, form_team{std::move(team), std::move(done)});
}

void node_exchange::disband(std::uint32_t model, assignment_epoch epoch) {
  caf::anon_send(actor_, disband_team{model, epoch});
}

void node_exchange::exchange(partner_exchange values) { caf::anon_send(actor_, begin_exchange{std::move(values)}); }

}  // namespace hydra
