#include "actors/session/policy_choice.hpp"

#include "actors/plugin/policy_actor.hpp"
#include "actors/policy/advised_policy.hpp"
#include "actors/policy/catalog.hpp"
#include "actors/policy/guarded_policy.hpp"
#include "actors/policy/one_at_a_time.hpp"
#include "runtime/base/fault.hpp"

#include <fmt/format.h>

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
      trusts_(options.policies.trusted),
      advice_limit_(options.policies.advice),
      sharp_(options.ablation.sharp) {
  use(known_.find(default_policy), {});
}

void policy_choice::choose(std::unique_ptr<policy> p) {
  depth_ = p->depth();
  chosen_ = std::move(p);
  advice_ = {};
}

void policy_choice::use(const known_policy& known, std::map<std::string, double> values) {
  const auto given = complete({seed_, std::move(values)}, known.entry.options, known.entry.name);
  if (known.make_actor) {
    use(known.make_actor(given));
    return;
  }
  make_ = [make = known.entry.make, given] { return make(given); };
  choose(make_());
  built_in_ = known.plugin.empty();
}

void policy_choice::use(const std::string& which, std::map<std::string, double> values) {
  const auto known = known_.find(which);
  if (trusts_ && (known.plugin.empty() || known.make_actor)) {
    const auto what = known.make_actor ? "an actor" : "built in, and decides in place";
    throw fault_error(fault_code::bad_input,
                      fmt::format("policy '{}' is {}: only a plug-in's policy can be trusted (run.trusted_policy)",
                                  known.entry.name, what));
  }
  use(known, std::move(values));
}

void policy_choice::use(std::unique_ptr<policy> p) {
  choose(guard(std::move(p)));
  built_in_ = false;
}

void policy_choice::use(std::shared_ptr<const policy_actor_source> source) {
  auto asks = std::make_unique<advised_policy>(source->name);
  auto* const desk = asks.get();
  choose(std::move(asks));
  advice_ = {.source = std::move(source), .asks = desk, .limit = advice_limit_, .apart = true};
  built_in_ = false;
}

std::unique_ptr<policy> policy_choice::take() { return applied(std::move(chosen_)); }

std::unique_ptr<policy> policy_choice::applied(std::unique_ptr<policy> p) const {
  return sharp_ ? std::move(p) : std::make_unique<one_at_a_time>(std::move(p));
}

}  // namespace hydra
