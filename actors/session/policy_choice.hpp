#pragma once
// Which policy a session's run has: one by name, an object of the user's, or an actor.

#include "actors/plugin/known_plugins.hpp"
#include "actors/plugin/policy_actor_setup.hpp"
#include "actors/policy/policy.hpp"
#include "actors/run/session_options.hpp"
#include "actors/session/policy_registry.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace hydra {

/// An object of a user's own, whose exceptions do not leave it. Throws fault_error{bad_input} for a null pointer.
std::unique_ptr<policy> guard(std::unique_ptr<policy> p);

class policy_choice {
 public:
  /// The default policy until another one is chosen.
  policy_choice(const session_options& options, std::shared_ptr<plugin_set> plugins);

  /// As session::use_policy. Throws fault_error{bad_input}.
  void use(const std::string& which, std::map<std::string, double> values);
  void use(std::unique_ptr<policy> p);
  void use(std::shared_ptr<const policy_actor_source> source);

  /// The chosen one; once.
  std::unique_ptr<policy> take();
  /// Another object of the last one that was chosen by name and is not an actor.
  std::unique_ptr<policy> make() const { return applied(make_()); }
  /// A policy as the run's options want it: one model after the other without SHARP.
  std::unique_ptr<policy> applied(std::unique_ptr<policy> p) const;

  /// Of a policy actor, which the chosen policy asks.
  const policy_actor_setup& advice() const noexcept { return advice_; }
  bool built_in() const noexcept { return built_in_; }
  /// Of the chosen one (policy::depth).
  std::uint32_t depth() const noexcept { return depth_; }

 private:
  void use(const known_policy& known, std::map<std::string, double> values);
  void choose(std::unique_ptr<policy> p);

  policy_registry known_;
  std::uint64_t seed_;
  bool trusts_;
  duration advice_limit_;
  bool sharp_;
  std::unique_ptr<policy> chosen_;
  std::function<std::unique_ptr<policy>()> make_;
  policy_actor_setup advice_;
  bool built_in_ = true;
  std::uint32_t depth_ = 1;
};

}  // namespace hydra
