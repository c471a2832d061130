#pragma once
// NODE: a session's run that trains the models which a COORDINATOR gives it.

#include "actors/cluster/teller.hpp"
#include "actors/protocol/cluster.hpp"
#include "actors/protocol/model_description.hpp"
#include "actors/selection/search_rule.hpp"

#include <caf/actor_system.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace hydra {

class node_exchange;
struct team_failure;
class session;

/// How its membership ended.
enum class node_end : std::uint8_t {
  done,     ///< the run is over, or the node has left as it was asked to; the coordinator has all that it has saved
  left,     ///< it has left, and what it has saved may be needed
  refused,  ///< it does not fit the cluster
  lost,     ///< the coordinator is not there any more
  failed,   ///< its own run has failed
};
std::string to_string(node_end end);

/// What the NODE says to the thread that owns the session, on a thread of its own: must return at once.
struct node_events {
  std::function<void(const node_accepted&)> accepted;
  teller say;                                                   ///< for a person
  std::function<void(node_end, const std::string& why)> ended;  ///< the last one; the session is not used any more
};

struct node_setup {
  join_cluster hello;  ///< without the NODE itself
  coordinator_actor coordinator;
  node_events events;
};

/// Its description, or why there is none.
struct opened_model {
  std::uint32_t model = 0;
  assignment_epoch epoch = 0;
  std::shared_ptr<const model_description> what{};
  fault why{};
};

/// Opens a model that was added to the run, on another thread: node_handle::opened() gets it. Must return at once.
using model_opening = std::function<void(std::uint32_t model, assignment_epoch epoch, const added_model& what)>;

/// The run is about to begin, with all of the workload's models paused; or it cannot.
struct node_run {
  session* run = nullptr;             ///< lives until node_events::ended; null: `plan.why` says why
  node_exchange* exchange = nullptr;  ///< the same; null: no model is trained by several nodes
  model_opening open{};               ///< null: no model can be added
  std::vector<std::string> models{};  ///< names
  std::filesystem::path folder{};     ///< of the run
  node_planned plan{};
};

/// The run has ended; `report`: a folder that durable_folder has written, may be empty.
struct node_run_over {
  fault why{};
  std::filesystem::path report{};
};

/// Give the models back, and end.
struct leave_cluster {};

class node_handle {
 public:
  static node_handle spawn(caf::actor_system& system, node_setup setup);

  void begin(node_run run) const;
  /// Its run has added it to metrics.jsonl.
  void wrote(const metrics_line& line) const;
  void opened(opened_model m) const;
  /// A trial of the workload's search, which waits until its session is told (session::decided).
  void evaluated(const trial_result& result) const;
  void over(node_run_over end) const;
  void leave() const;
  /// A model that is trained together with others cannot go on.
  void lost(const team_failure& failure) const;

 private:
  explicit node_handle(caf::actor actor) : actor_(std::move(actor)) {}
  caf::actor actor_;
};

}  // namespace hydra
