#pragma once
// The exchanges of one team: a few operations at a time, in the order in which all of its nodes begin them. Pure.

#include "actors/protocol/cluster.hpp"
#include "actors/protocol/exchange.hpp"
#include "actors/protocol/step_partners.hpp"
#include "runtime/collective/collective_run.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

namespace hydra {

class team_exchange {
 public:
  /// `node_of`: the member of each replica; `here`: this node.
  team_exchange(std::uint32_t model, assignment_epoch epoch, std::vector<std::uint32_t> node_of, std::uint32_t here);

  assignment_epoch epoch() const noexcept { return epoch_; }

  // -- events ------------------------------------------------------------------------------------------------------
  void begin(partner_exchange values);
  /// What another node wants: answered by answers(), perhaps later.
  void wanted(const want_values& m) { wanted_.push_back(m); }
  /// Throws fault_error{damaged} for what was not asked for.
  void arrived(const given_values& m);

  // -- decisions ---------------------------------------------------------------------------------------------------
  struct request {
    std::uint32_t member = 0;
    exchange_part of{};
    piece what{};
  };
  /// To be sent now, each once.
  std::vector<request> requests();
  /// The same. Throws fault_error{damaged} for what nobody may want.
  std::vector<std::pair<value_receiver, given_values>> answers();
  /// Exchanges that are done; others take their place.
  std::vector<partner_exchange> take_finished();
  /// All that are not done.
  std::vector<partner_exchange> cancel();

 private:
  struct operation {
    partner_exchange values{};
    std::vector<collective_run> parts{};
  };
  void start();
  operation make(partner_exchange values) const;

  std::uint32_t model_;
  assignment_epoch epoch_;
  std::vector<std::uint32_t> node_of_;
  std::uint32_t here_;
  std::uint32_t members_;
  std::deque<partner_exchange> waiting_;
  std::map<std::uint64_t, operation> running_;
  std::uint64_t next_ = 0;  ///< number of the operation that starts next
  std::vector<want_values> wanted_;
};

}  // namespace hydra
