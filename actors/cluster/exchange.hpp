#pragma once
// EXCHANGE: what nodes that train a model together send each other.

#include "actors/cluster/network.hpp"
#include "actors/protocol/cluster.hpp"
#include "actors/protocol/exchange.hpp"
#include "actors/protocol/step_partners.hpp"
#include "runtime/base/fault.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hydra {

/// A model that this node trains together with others.
struct formed_team {
  std::uint32_t model = 0;
  std::string name{};
  assignment_epoch epoch = 0;
  std::vector<team_member> members{};  ///< in the order of their replicas; all replicas of a step
  std::size_t here = 0;                ///< this node's place among them
};

/// Why the nodes of a team cannot go on.
struct team_failure {
  std::uint32_t model = 0;
  assignment_epoch epoch = 0;
  fault why{};
  std::optional<std::uint32_t> member{};  ///< that cannot be reached; none: it is not known which
};

struct exchange_totals {
  byte_count sent{};     ///< of values, to other nodes
  duration under_way{};  ///< while some exchange of a model was; of all models
};

/// Sums of gradients are added by the collective operation "direct", whose bits are those of one process; what is not
/// added is sent to all. Thread-safe.
class node_exchange final : public step_partners {
 public:
  /// Called on a thread of its own: `lost`, when a team cannot be formed, or not go on; it is over then.
  node_exchange(cluster_network& network, std::function<void(const team_failure&)> lost,
                collective_kind adds_by = collective_kind::direct);
  ~node_exchange() override;
  node_exchange(const node_exchange&) = delete;
  node_exchange& operator=(const node_exchange&) = delete;

  /// From now on others can reach it, at the address that is returned. `host`: a name or address of this machine.
  std::string listen(const std::string& host);

  /// Connects to the members; `formed`, on a thread of its own: all of them are ready. Replaces an earlier team of the
  /// model.
  void form(formed_team team, std::function<void()> formed);
  /// This node can begin, with the state after `step` steps.
  void ready(std::uint32_t model, assignment_epoch epoch, std::uint32_t step);
  /// What is under way ends with a fault.
  void disband(std::uint32_t model, assignment_epoch epoch);

  void exchange(partner_exchange values) override;
  exchange_totals totals() const;

 private:
  struct counters;
  cluster_network& network_;
  std::shared_ptr<counters> counters_;
  caf::actor actor_;
  std::uint16_t port_ = 0;  ///< 0: it does not listen
};

}  // namespace hydra
