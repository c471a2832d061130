#pragma once
// The state of a cluster as its COORDINATOR knows it: which node has which model, since when, and what is to be done
// next.

#include "actors/cluster/placement.hpp"
#include "actors/protocol/cluster.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/base/fault.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace hydra {

/// Commands to nodes.
struct assign_model {
  std::size_t model = 0;
  std::size_t node = 0;
  assignment_epoch epoch = 0;
  std::optional<std::uint32_t> from_step{};  ///< of the newest checkpoint; none: from the beginning
  std::vector<std::size_t> helpers{};        ///< nodes that train it together with this one
};
struct take_back_model {  ///< the node saves it between two steps, hands the checkpoint over, and gives its memory back
  std::size_t model = 0;
  std::size_t node = 0;
  assignment_epoch epoch = 0;
};
struct drop_model {  ///< those who trained it together with the node do not go on
  std::size_t model = 0;
  std::size_t node = 0;
  assignment_epoch epoch = 0;
};
using cluster_command = std::variant<assign_model, take_back_model, drop_model>;

enum class assignment_phase : std::uint8_t { waiting, assigned, training, taken_back, ended };

struct cluster_model {
  std::string name{};
  assignment_phase phase = assignment_phase::waiting;
  assignment_epoch epoch = 0;
  std::optional<std::size_t> node{};        ///< unless it waits or has ended
  std::uint32_t nodes = 1;                  ///< that are to train it together
  std::vector<std::size_t> helpers{};       ///< those that do, besides the first one
  std::uint32_t steps = 0;                  ///< that are done, as its node has reported
  std::uint32_t before = 0;                 ///< steps of the state that it begins from
  std::optional<std::uint32_t> saved_at{};  ///< step of its newest checkpoint
  duration remaining{};                     ///< on a device of speed 1
  byte_count checkpoint{};
  fault why{};  ///< of a model that has failed, or was refused last
  std::set<std::size_t> too_large_for{};
  std::set<std::size_t> avoids{};         ///< nodes
  std::optional<std::size_t> moves_to{};  ///< a node, while it is taken back
  bool held = false;
  bool paused = false;         ///< by a person: it is taken back, and waits
  bool stays = false;          ///< it could not be saved
  std::uint32_t refusals = 0;  ///< by nodes, one after the other, without a step in between that was saved
  std::uint32_t failed_teams = 0;  ///< nodes that did not come to train it together

  /// Of its newest state, from which it continues where its node is lost.
  std::uint32_t saved_steps() const { return saved_at.value_or(before); }
  bool is_on(std::size_t n) const { return node == n || std::ranges::count(helpers, n) > 0; }
};

struct cluster_node {
  std::string name{};
  node_capacity capacity{};
  bool here = true;
  bool leaving = false;
};

class assignments {
 public:
  /// Returns its number. `remaining`: of all its steps.
  std::size_t add_model(std::string name, duration remaining, byte_count checkpoint);
  std::size_t add_node(std::string name, const node_capacity& capacity);
  /// What became known of a model that was added with less; `saved_at`: its newest checkpoint.
  void estimated(std::size_t model, duration remaining, byte_count checkpoint, std::uint32_t nodes = 1);
  void found(std::size_t model, std::optional<std::uint32_t> saved_at);
  /// It begins from a state after so many steps.
  void begins_at(std::size_t model, std::uint32_t steps) { models_.at(model).steps = models_.at(model).before = steps; }
  void cannot_take(std::size_t model, std::size_t node, const fault& why) {
    models_.at(model).too_large_for.insert(node);
    models_.at(model).why = why;
  }
  void weighs(std::size_t model, byte_count checkpoint) { models_.at(model).checkpoint = checkpoint; }
  void remains(std::size_t model, duration remaining) { models_.at(model).remaining = remaining; }
  /// One that waits is not given to a node until it is released again: a newer checkpoint comes.
  void hold(std::size_t model, bool held) { models_.at(model).held = held; }
  /// One that is paused is taken back, and given to no node until it is resumed.
  void pause(std::size_t model, bool paused) { models_.at(model).paused = paused; }
  /// One that waits ends there.
  void stopped(std::size_t model);
  /// The rate at which checkpoints of the node have crossed the network.
  void measured(std::size_t node, byte_rate link) { nodes_.at(node).capacity.link = link; }
  /// For how long a model that moved was not trained, besides the transfer.
  void measured(duration restart) { restart_ = restart; }

  // -- events ------------------------------------------------------------------------------------------------------
  /// Its models are trained elsewhere from their newest checkpoints.
  void node_lost(std::size_t node);
  /// It gets no more models, and those it has are taken back.
  void node_leaves(std::size_t node) { nodes_.at(node).leaving = true; }
  /// The following are false, without effect, if the epoch is not the current one.
  bool began(std::size_t model, assignment_epoch epoch);
  /// A model that is too large for a node (`by`: because of which it is refused; none: its first one), or has ended
  /// there and could not be saved (refused), goes to another one, or waits for one. A node that could not write files
  /// is avoided until forgive(). One that is refused three times for other reasons, with no more steps saved, has
  /// failed with the last one.
  bool refused(std::size_t model, assignment_epoch epoch, const fault& why, std::optional<std::size_t> by = {});
  bool progressed(std::size_t model, assignment_epoch epoch, std::uint32_t steps, duration remaining);
  /// Its checkpoint is in the run folder.
  bool saved(std::size_t model, assignment_epoch epoch, std::uint32_t step);
  /// Nodes that could not write files may have models again, and models that could not be saved are taken back again.
  void forgive();
  /// It was taken back, saved; or it could not be saved, is trained on, and not asked for until forgive().
  bool released(std::size_t model, assignment_epoch epoch);
  bool stays(std::size_t model, assignment_epoch epoch);
  bool ended(std::size_t model, assignment_epoch epoch, const fault& why);

  // -- decisions ---------------------------------------------------------------------------------------------------
  /// What is to be done now. Every command is given once.
  std::vector<cluster_command> decide();

  // -- facts -------------------------------------------------------------------------------------------------------
  bool over() const noexcept;
  const cluster_model& of(std::size_t model) const { return models_.at(model); }
  const std::vector<cluster_model>& models() const noexcept { return models_; }
  const std::vector<cluster_node>& nodes() const noexcept { return nodes_; }
  /// Models that were moved from one node to another although nothing was lost.
  std::uint32_t moves() const noexcept { return moves_; }

 private:
  cluster_model* current(std::size_t number, assignment_epoch epoch);
  void leave_nodes(cluster_model& m, std::optional<std::size_t> without = {});
  std::vector<std::size_t> helpers_for(std::size_t m, std::size_t node) const;
  bool may_grow(const cluster_model& m) const;
  bool takes_models(std::size_t n) const { return nodes_[n].here && !nodes_[n].leaving; }
  std::vector<std::size_t> taking_models() const;
  std::vector<placeable_model> placeable(const std::vector<std::size_t>& nodes) const;
  std::vector<node_capacity> capacities(const std::vector<std::size_t>& nodes) const;
  void place_waiting(std::vector<cluster_command>& commands);
  void take_back_unwanted(std::vector<cluster_command>& commands);
  void move_one(std::vector<cluster_command>& commands);
  void take_back(std::size_t m, std::vector<cluster_command>& commands);
  void assign(std::size_t m, std::size_t node, std::vector<cluster_command>& commands);

  std::vector<cluster_model> models_;
  std::vector<cluster_node> nodes_;
  std::vector<drop_model> drops_;  ///< to be given
  std::uint32_t moves_ = 0;
  duration restart_ = std::chrono::milliseconds(500);  ///< until it is measured
};

}  // namespace hydra
