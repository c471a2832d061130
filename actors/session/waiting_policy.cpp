#include "actors/session/waiting_policy.hpp"

#include "actors/plugin/policy_actor.hpp"
#include "actors/protocol/system_config.hpp"
#include "actors/schedule/policy_host.hpp"
#include "runtime/base/fault.hpp"

#include <caf/actor_system.hpp>
#include <caf/scoped_actor.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace hydra {

namespace {

class waiting_policy final : public policy {
 public:
  waiting_policy(std::shared_ptr<const policy_actor_source> source, duration limit)
      : name_(source->name), limit_(limit), host_(std::move(source)), actor_(host_.source()->start(system_)) {}

  std::string name() const override { return name_; }

  std::optional<std::size_t> choose(const device_state& device, std::span<const candidate> candidates,
                                    const policy_view& view) override {
    const caf::scoped_actor self(system_);
    const auto to = caf::actor_cast<advice_receiver>(self);
    self->send(actor_, advice_wanted{++request_,
                                     device,
                                     {candidates.begin(), candidates.end()},
                                     {view.devices.begin(), view.devices.end()},
                                     {view.models.begin(), view.models.end()},
                                     view.now,
                                     to});
    std::optional<policy_advised> answer;
    self->receive([&](const policy_advised& m) { answer = m; }, caf::after(limit_) >> [] {});
    if (!answer) {
      fail("has not answered for " + to_string(limit_));
    }
    if (!answer->choice) {
      return std::nullopt;
    }
    const auto found = std::ranges::find(candidates, *answer->choice, &candidate::next);
    if (found == candidates.end()) {
      fail("has chosen " + to_string(*answer->choice) + ", which is not a candidate");
    }
    return static_cast<std::size_t>(found - candidates.begin());
  }

 private:
  [[noreturn]] void fail(const std::string& why) const { throw fault_error(fault_code::internal, "its actor " + why); }

  std::string name_;
  duration limit_;
  std::unique_ptr<caf::actor_system_config> config_ = make_system_config();
  caf::actor_system system_{*config_};
  policy_host host_;
  policy_actor actor_;   ///< the relay to it
  std::uint64_t request_ = 0;
};

}  // namespace

std::unique_ptr<policy> make_waiting_policy(std::shared_ptr<const policy_actor_source> source, duration limit) {
  return std::make_unique<waiting_policy>(std::move(source), limit);
}

}  // namespace hydra
