#include "actors/session/policy_choice.hpp"

#include "actors/plugin/policy_actor.hpp"
#include "actors/policy/advised_policy.hpp"
#include "actors/policy/catalog.hpp"
#include "actors/policy/guarded_policy.hpp"
#include "actors/policy/one_at_a_time.hpp"
#include "runtime/base/fault.hpp"

#include <utility>

namespace hydra {

std::unique_ptr<policy> guard(std::unique_ptr<policy> p) {
  if (!p) {
    throw fault_error(fault_code::bad_input, "policy: there is no object (a null pointer); give one, or a name");
  }
  return std::make_unique<guarded_policy>(std::move(p));
}

policy_choice::policy_choice(const session_options& options, std::shared_ptr<plugin_set> plugins)
    : known_(options.policies, std::move(plugins)),
      seed_(options.seed),
      advice_limit_(options.policies.advice),
      sharp_(options.ablation.sharp) {
  use(default_policy, {});
}

void policy_choice::use(const std::string& which, std::map<std::string, double> values) {
  const auto known = known_.find(which);
  const auto given = complete({seed_, std::move(values)}, known.entry.options, known.entry.name);
  if (known.make_actor) {
    use(known.make_actor(given));
    return;
  }
  make_ = [make = known.entry.make, given] { return make(given); };
  chosen_ = make_();
  advice_ = {};
  built_in_ = known.plugin.empty();
}

void policy_choice::use(std::unique_ptr<policy> p) {
  chosen_ = guard(std::move(p));
  advice_ = {};
  built_in_ = false;
}

void policy_choice::use(std::shared_ptr<const policy_actor_source> source) {
  auto asks = std::make_unique<advised_policy>(source->name);
  advice_ = {.source = std::move(source), .asks = asks.get(), .limit = advice_limit_, .apart = true};
  chosen_ = std::move(asks);
  built_in_ = false;
}

std::unique_ptr<policy> policy_choice::take() { return applied(std::move(chosen_)); }

std::unique_ptr<policy> policy_choice::applied(std::unique_ptr<policy> p) const {
  return sharp_ ? std::move(p) : std::make_unique<one_at_a_time>(std::move(p));
}

}  // namespace hydra
