#pragma once
// Messages between the EXCHANGE of one node of a cluster and those of others: values of models that they train
// together. Whoever needs values asks for them, a piece at a time.

#include "actors/protocol/caf_version.hpp"
#include "runtime/collective/collective_run.hpp"

#include <caf/actor_system_config.hpp>
#include <caf/typed_actor.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace hydra {

/// The nodes that train a model together do the same operations, by their numbers (partner_exchange), since they began
/// together (`epoch` of their assignment). Some operations have several parts.
struct exchange_part {
  std::uint32_t model = 0;
  std::uint64_t epoch = 0;
  std::uint64_t operation = 0;
  std::uint32_t part = 0;
  friend auto operator<=>(const exchange_part&, const exchange_part&) = default;

  friend auto inspect(auto& f, exchange_part& x) { return f(x.model, x.epoch, x.operation, x.part); }
};

auto inspect(auto& f, piece& x) { return f(x.round, x.from, x.to, x.what.first, x.what.count); }

struct given_values {
  exchange_part of{};
  piece what{};
  std::vector<float> values{};

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, given_values& x) {
    return inspect_at_once(f, x.values, collective_run::piece_values,
                           [&](auto& size) { return f(x.of, x.what, size); });
  }
};
using value_receiver = caf::typed_actor<caf::reacts_to<given_values>>;

struct want_values {
  exchange_part of{};
  piece what{};
  value_receiver to{};

  friend auto inspect(auto& f, want_values& x) { return f(x.of, x.what, x.to); }
};

struct team_greeting;
using exchange_actor = value_receiver::extend<caf::reacts_to<want_values>, caf::reacts_to<team_greeting>>;

/// To each member of a team, again and again as long as it exists: the sender is there. Of two members one connects to
/// the other, which knows it by this. To a handle from the COORDINATOR CAF would send all values through that one.
struct team_greeting {
  std::uint32_t model = 0;
  std::uint64_t epoch = 0;
  std::uint32_t place = 0;  ///< of the sender in the team
  bool ready = false;       ///< it has the checkpoint
  std::uint32_t step = 0;   ///< of that: all must begin with the same one
  exchange_actor from{};

  friend auto inspect(auto& f, team_greeting& x) { return f(x.model, x.epoch, x.place, x.ready, x.step, x.from); }
};

inline void add_exchange_messages(caf::actor_system_config& config) {
  config.add_message_type<given_values>("hydra::given_values");
  config.add_message_type<want_values>("hydra::want_values");
  config.add_message_type<team_greeting>("hydra::team_greeting");
}

}  // namespace hydra
