#pragma once
// COORDINATOR: gives the models of a workload to nodes, collects their checkpoints, and gives those of a lost node to
// others.

#include "actors/cluster/cluster_record.hpp"
#include "actors/cluster/inputs.hpp"
#include "actors/cluster/teller.hpp"
#include "actors/protocol/cluster.hpp"
#include "actors/report/expense_file.hpp"
#include "actors/run/search_setup.hpp"

#include <caf/actor_system.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace hydra {

/// A model that is added to the run.
struct cluster_addition {
  added_model model{};
  std::uint32_t steps = 0;     ///< 0: not known yet
  std::uint32_t before = 0;    ///< of them, those of the state that it begins from
  std::uint32_t replicas = 1;
  std::uint32_t lanes = 1;     ///< units of a step that may be computed at a time
  std::uint32_t nodes = 1;     ///< that were to train it together; one does
  input_paths inputs{};        ///< files and folders that it names
};

/// What is to be trained.
struct cluster_workload {
  std::uint64_t run = 0;  ///< random; the same when it is resumed
  std::string name{};
  std::string text{};                 ///< TOML, complete
  std::string began_in{};             ///< folder from which its relative paths start
  input_paths inputs{};               ///< files and folders that it names: for nodes that lack them
  std::vector<std::string> models{};  ///< names, in its order
  std::vector<cluster_addition> added{};  ///< in an earlier part of the run
  std::vector<std::string> data{};    ///< data_lines_of() each; empty: all nodes must only have the same
  /// of these models, those that end with their next step, as session_options::stopped
  std::vector<std::string> stopped{};
  search_setup search{};              ///< of these models
  std::filesystem::path folder{};     ///< the run folder, which is there: checkpoints, metrics.jsonl, nodes/
  std::uint32_t keep = 2;             ///< checkpoints of each model
  earlier_parts before{};             ///< of the run in that folder, but for `has_states`
};

/// With the folder of a state, or why there is none. As command_sink.
using kept_sink = std::function<void(const fault& why, const std::filesystem::path& state)>;

/// On a thread of the COORDINATOR: must return at once.
struct coordinator_events {
  teller say{};                                                      ///< what happens, for a person
  std::function<void(const std::vector<planned_model>&)> planned{};  ///< by a node; 0 steps: not, or before
  std::function<void(const std::string&)> metrics_lines{};           ///< that nodes have written
  std::function<void(cluster_record)> ended{};                       ///< once
};

struct coordinator_setup {
  cluster_workload what;
  std::string build;  ///< build_text(): nodes with another one are refused; empty: with another one than the first node
  std::string local_name;  ///< of the node in this process; empty: there is none
  std::size_t nodes = 1;   ///< no model is given to a node before so many are there
  coordinator_events events;
};

class coordinator_handle {
 public:
  /// Models that have checkpoints in the run folder continue from them.
  static coordinator_handle spawn(caf::actor_system& system, coordinator_setup setup);

  /// For nodes.
  const coordinator_actor& actor() const noexcept { return actor_; }

  /// Takes all models back, and ends; when called again, ends at once.
  void interrupt() const;
  /// stop, pause or resume, as those of a session.
  void steer(const std::string& model, model_command what, command_sink answer) const;
  void read_status(status_sink answer) const;
  void add(cluster_addition model, command_sink answer) const;
  /// Saves the model to the run folder: as it is between two of its next steps, or that is there; with `steps` as it is
  /// after so many, where it waits or will. Later checkpoints do not replace it.
  void keep(const std::string& model, std::optional<std::uint32_t> steps, kept_sink answer) const;
  /// session::copy_begun().
  void copy_begun(const std::string& copy, bool joined) const;

 private:
  coordinator_handle(coordinator_actor actor, caf::actor local) : actor_(std::move(actor)), local_(std::move(local)) {}
  coordinator_actor actor_;
  caf::actor local_;
};

}  // namespace hydra
