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
#include <optional>
#include <utility>
#include <vector>

namespace hydra {

class team_exchange {
 public:
  /// `node_of`: the member of each replica; `here`: this node. `adds_by`: what has no values of its own is done by the
  /// last member.
  team_exchange(std::uint32_t model, assignment_epoch epoch, std::vector<std::uint32_t> node_of, std::uint32_t here,
                collective_kind adds_by = collective_kind::direct);

  // -- events ------------------------------------------------------------------------------------------------------
  /// Numbers grow.
  void begin(partner_exchange values);
  /// What another node wants: answered by go_on(), perhaps later.
  void wanted(const want_values& m) { wanted_.push_back(m); }
  /// Throws fault_error{damaged} for what was not asked for.
  void arrived(const given_values& m);

  // -- decisions ---------------------------------------------------------------------------------------------------
  struct request {
    std::uint32_t member = 0;
    exchange_part of{};
    piece what{};
  };
  struct actions {
    std::vector<std::pair<value_receiver, given_values>> answers{};
    std::vector<request> requests{};
    std::vector<partner_exchange> finished{};  ///< to be notified, in the order of their numbers
  };
  /// All that is to be done after an event, each once. Throws fault_error{damaged} if something is wanted that nobody
  /// may want.
  actions go_on();
  /// All that are not done.
  std::vector<partner_exchange> cancel();

 private:
  struct operation {
    partner_exchange values{};
    std::vector<collective_run> parts{};
    std::vector<float> server{};  ///< values of a party that is not a replica
  };
  void start();
  bool answer_wanted(actions& now);
  void request_wanted(actions& now);
  bool end_finished(actions& now);
  operation make(partner_exchange values) const;
  std::optional<given_values> answer_to(const want_values& m);
  void add_part(operation& made) const;

  std::uint32_t model_;
  assignment_epoch epoch_;
  std::vector<std::uint32_t> node_of_;
  std::uint32_t here_;
  std::uint32_t members_;
  collective_kind adds_by_;
  std::deque<partner_exchange> waiting_;
  std::map<std::uint64_t, operation> running_;
  std::optional<std::uint64_t> last_;  ///< number of the operation that has begun last
  std::vector<want_values> wanted_;
};

}  // namespace hydra
