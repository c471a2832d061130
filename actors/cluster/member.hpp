#pragma once
// A process that trains models for a COORDINATOR: it joins, builds the session of the workload that it is given, and
// runs it.

#include "actors/cluster/exchange.hpp"
#include "actors/cluster/network.hpp"
#include "actors/cluster/node.hpp"
#include "actors/cluster/teller.hpp"
#include "actors/protocol/cluster.hpp"
#include "actors/session/session.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace hydra {

struct member_options {
  std::string name;              ///< unique in the cluster; one that joins again under its name replaces the one before
  std::filesystem::path folder;  ///< for the checkpoints of the models that it trains
  std::string address{};         ///< at which other nodes reach this one; empty: that towards the coordinator
  duration patience = std::chrono::minutes(10);   ///< how long it tries to find or reach a coordinator
  teller say{};                                   ///< what happens, for a person; from any thread
};

/// What a node gives to its session.
struct node_place {
  std::filesystem::path output;             ///< where it saves
  std::shared_ptr<step_partners> partners;  ///< session_options::partners
  /// Brings an input of the workload (cluster_workload::inputs) to this machine, and says where it is. Throws
  /// fault_error.
  std::function<std::filesystem::path(const std::string& name)> input{};
  /// Of a trial of the workload's search: the decision comes by session::decided().
  std::function<void(const trial_result&)> evaluated{};
};

/// The session of a workload, and what opens models that are added to its run. That may take files from the
/// coordinator, is called on a thread of its own, and throws fault_error.
struct made_session {
  made_session(std::unique_ptr<session> s,  // NOLINT: where none are added
               std::function<model_description(const added_model&)> opens = nullptr)
      : run(std::move(s)), open(std::move(opens)) {}
  std::unique_ptr<session> run;
  std::function<model_description(const added_model&)> open;
};

/// The models of the session begin paused (session_options). Throws fault_error if the workload cannot be trained here.
using session_maker = std::function<made_session(const node_accepted& what, const node_place& place)>;

/// Not thread-safe, except leave().
class cluster_member {
 public:
  cluster_member(member_options options, session_maker make);
  cluster_member(const cluster_member&) = delete;
  cluster_member& operator=(const cluster_member&) = delete;

  /// Calls it again while it throws fault_errors, for patience; {bad_input}, which no waiting mends, is thrown on.
  /// Returns nothing if it has succeeded, else `lost`, or `done` if the node is to leave.
  std::optional<node_end> persist(const std::function<void()>& attempt) const;

  /// Trains models until the run is over. If the coordinator is lost, joins again, with an empty session. `where` says
  /// before each attempt, a part of persist()'s, where it is: one that is started again may listen elsewhere. Returns
  /// `done`, or why it is not: `lost` after patience without a coordinator.
  node_end join(cluster_network& network, const std::function<network_address()>& where);

  /// The same for a coordinator that is reached; `near`: its address. `lost` if it ends first.
  node_end serve(cluster_network& network, const coordinator_actor& coordinator, const network_address& near);

  /// From any thread: hands its models back and ends; when called again, ends without.
  void leave();

 private:
  void plan(session& s, node_run& run) const;
  made_session planned_session(cluster_network& network, const node_accepted& what, node_run& run,
                               const std::shared_ptr<node_exchange>& exchange, const network_address& near);
  std::filesystem::path input(cluster_network& network, const node_accepted& what, const std::string& name) const;
  std::filesystem::path folder_of(const node_accepted& what) const;
  void drop_folder(const node_accepted& what) const;
  void use(session* s);
  node_run_over train(session& s) const;
  void say(const std::string& text) const;
  bool wait(duration time) const;
  bool leaving() const;
  void end_session();
  bool is_over() const;

  member_options options_;
  session_maker make_;
  mutable std::mutex mutex_;  ///< of the next ones
  int asked_to_leave_ = 0;
  std::optional<node_handle> node_;
  session* running_ = nullptr;
  bool over_ = false;  ///< the NODE has ended
};

/// Never the same twice: names a membership, or a run.
std::uint64_t random_number();

/// What decides bits besides the workload: version of Hydra and of its libraries, features of the processor.
std::string build_text();

}  // namespace hydra
