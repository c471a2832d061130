#pragma once
// The facade of a cluster, for the process that coordinates it; cluster_member is the one of its nodes.

#include "actors/cluster/coordinator.hpp"
#include "actors/cluster/member.hpp"
#include "actors/cluster/network.hpp"
#include "actors/cluster/teller.hpp"
#include "actors/report/report.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace hydra {

struct cluster_options {
  network_address listen{"127.0.0.1", 0};
  std::optional<cluster_keys> keys{};             ///< none: those of the run, until it has completed (keys_of_run)
  std::size_t nodes = 1;                          ///< the first model is given to a node when so many are there
  std::string local_name = "local";               ///< of this process as a node; empty if it is none
  bool progress = false;                          ///< live progress on stderr
  teller say{};                                   ///< what happens, for a person; from any thread
};

/// Trains the models of a workload on the nodes that join: whole models, which move between nodes as their checkpoints,
/// with the results of plain training. Not thread-safe, except interrupt() and what says so. run() may be called once.
class cluster {
 public:
  /// Listens from now on. Throws fault_error{bad_input} for an address or keys that cannot be used, {damaged} for
  /// checkpoints in the run folder that cannot be read.
  cluster(cluster_workload what, cluster_options options);
  ~cluster();
  cluster(const cluster&) = delete;
  cluster& operator=(const cluster&) = delete;

  /// "127.0.0.1:7878": for nodes.
  std::string address() const;

  /// Waits for nodes and trains all models. Unless `local` is null, this process is a node, too; throws fault_error if
  /// that one cannot train the workload. Models of nodes that are lost
  /// continue on others from their last checkpoints. Without any node it waits.
  report run(session_maker local = nullptr);

  /// From any thread, at any time: all models are saved, run() returns. After a second call it returns without.
  void interrupt();
  /// From any thread, while run() is under way: as session's. Throws fault_error{bad_input}, {refused}.
  void stop(const std::string& model);
  /// Returns when no node has the model any more; its newest checkpoint is in the run folder.
  void pause(const std::string& model);
  void resume(const std::string& model);
  run_status status();

  /// The same: a model joins the run. Nodes that it is given to need its data. Throws fault_error{refused} if the run
  /// ends, {bad_input} for a name that is taken.
  void add(cluster_addition model);
  /// session::keep(). `steps`: of a trial of a search that waits there, or will.
  std::filesystem::path keep(const std::string& model, std::optional<std::uint32_t> steps = {});
  void copy_begun(const std::string& copy, bool joined);

 private:
  void steer(const std::string& model, model_command what);

  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace hydra
