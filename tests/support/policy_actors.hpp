#pragma once
// Policy actors for tests: their answers are given by a function.

#include "actors/plugin/policy_actor.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <stdexcept>
#include <utility>

namespace hydra::test {

/// The answer to a request, or none for ever. If it throws, the actor ends.
using advice = std::function<std::optional<policy_advised>(const advice_wanted&)>;

class scripted_policy_actor final : public policy_actor::base {
 public:
  scripted_policy_actor(caf::actor_config& config, advice says) : policy_actor::base{config}, says_{std::move(says)} {}

  behavior_type make_behavior() override {
    return {[this](const advice_wanted& m) {
      try {
        if (const auto answer = says_(m)) {
          send(m.to, *answer);
        }
      } catch (const std::runtime_error&) {
        quit(caf::exit_reason::unhandled_exception);
      }
    }};
  }

 private:
  advice says_;
};

inline policy_actor_source scripted_source(advice says) {
  return {.name = "actor",
          .start = [says](caf::actor_system& s) -> policy_actor { return s.spawn<scripted_policy_actor>(says); }};
}

/// As sharded-lrtf decides.
inline std::optional<policy_advised> longest_remaining(const advice_wanted& m) {
  const auto longest = std::ranges::max_element(m.candidates, {}, &candidate::remaining);
  return policy_advised{m.request, m.device.device, longest->next};
}

}  // namespace hydra::test
