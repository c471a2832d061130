#include "actors/schedule/policy_host.hpp"

#include "actors/protocol/own_thread.hpp"
#include "actors/protocol/system_config.hpp"
#include "runtime/base/fault.hpp"

#include <chrono>
#include <future>
#include <system_error>
#include <thread>
#include <utility>

namespace hydra {

namespace {

using relay_actor = policy_actor::extend<caf::reacts_to<policy_advised>>;

/// RELAY: runs in the policy actor's system, on a thread of its own, so that each side's messages are handled by its
/// own threads. It is the receiver of the answers, so that they arrive over a network, too.
class relay final : public relay_actor::base {
 public:
  relay(caf::actor_config& config, policy_actor actor, bool outlives_run)
      : relay_actor::base{config}, actor_{std::move(actor)}, outlives_run_{outlives_run} {}

  behavior_type make_behavior() override {
    set_down_handler([this](const caf::down_msg&) { quit(caf::exit_reason::remote_link_unreachable); });
    monitor(actor_);
    return {[this](const advice_wanted& m) { on_advice_wanted(m); },
            [this](const policy_advised& m) { on_policy_advised(m); }};
  }

  void on_exit() override {
    if (!outlives_run_) {
      end_actor(actor_);
    }
    actor_ = nullptr;
    asks_ = nullptr;
  }

 private:
  void on_advice_wanted(advice_wanted m) {
    asks_ = std::exchange(m.to, advice_receiver{this});
    post(actor_, std::move(m));
  }

  void on_policy_advised(const policy_advised& m) { post(asks_, m); }

  policy_actor actor_;
  bool outlives_run_;
  advice_receiver asks_;
};

std::unique_ptr<caf::actor_system_config> config_for(const policy_actor_source& source) {
  auto config = make_system_config();
  if (source.prepare) {
    source.prepare(*config);
  }
  return config;
}

/// A system does not end while it has an actor that nobody ends.
relay_actor relay_to(caf::actor_system& system, const policy_actor& actor, bool outlives_run) try {
  return spawn_on_own_thread<relay>(system, actor, outlives_run);
} catch (...) {
  if (!outlives_run) {
    end_actor(actor);
  }
  throw;
}

}  // namespace

/// The system is destroyed before its configuration and before the code of its actors.
struct policy_host::state {
  explicit state(std::shared_ptr<const policy_actor_source> from)
      : source{std::move(from)}, config{config_for(*source)}, system{*config} {}

  std::shared_ptr<const policy_actor_source> source;
  std::unique_ptr<caf::actor_system_config> config;
  caf::actor_system system;
};

policy_host::policy_host(std::shared_ptr<const policy_actor_source> source)
    : state_{std::make_unique<state>(std::move(source))} {
  const auto& from = *state_->source;
  const auto actor = from.start(state_->system);
  if (!actor) {
    throw fault_error(fault_code::bad_input, "policy " + from.name + ": there is no actor to ask");
  }
  const auto between = relay_to(state_->system, actor, from.outlives_run);
  relayed_ = std::make_shared<policy_actor_source>(policy_actor_source{
      .name = from.name, .start = [between](caf::actor_system&) -> policy_actor { return between; }});
}

policy_host::~policy_host() {
  if (state_) {
    retire(std::chrono::seconds(1));
  }
}

/// A system ends when its last actor does. Without a thread that waits for that it is leaked.
bool policy_host::retire(duration limit) {
  end_actor(relayed_->start(state_->system));  // the run has done so, unless it was never started
  relayed_ = nullptr;
  const auto ended = std::make_shared<std::promise<void>>();
  auto end = ended->get_future();
  auto* const left = state_.release();
  try {
    std::thread{[ended, left] {
      std::unique_ptr<state>{left}.reset();
      ended->set_value();
    }}.detach();
  } catch (const std::system_error&) {
    return false;
  }
  return end.wait_for(limit) == std::future_status::ready;
}

}  // namespace hydra
