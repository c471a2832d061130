#pragma once
// Which node of a cluster trains which model. Whole models: nothing of a training step crosses the network.

#include "runtime/base/bytes.hpp"

#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace hydra {

/// A node as placement sees it. The devices of a node have the same speed.
struct node_capacity {
  std::size_t devices = 1;
  double speed = 1;
  byte_rate link{};    ///< of its checkpoints; zero: not limited
  duration restart{};  ///< for which a model that moves is not trained, besides the transfer
};

struct placeable_model {
  duration remaining{};                   ///< of its computations, on one device of speed 1
  byte_count checkpoint{};                ///< that crosses the network if it moves
  bool begun = false;                     ///< else it has no state to move
  std::optional<std::size_t> on{};        ///< the node that it is on
  bool moves = true;                      ///< it may be taken from there
  std::set<std::size_t> too_large_for{};  ///< nodes that cannot train it even alone
};

struct model_move {
  std::size_t model = 0;
  std::size_t to = 0;
};

/// When a node will have trained models with these remaining times: not before its longest one, which no two devices
/// share, nor before its devices have done all of them.
duration expected_end(const node_capacity& node, std::span<const duration> remaining);

/// A node for every model that is on none: the longest first, each where it ends first (longest processing time), of
/// several the one with fewest models. Those on which there are models already take more if they still end first. None
/// for a model that no node can train.
std::vector<std::optional<std::size_t>> place(std::span<const placeable_model> models,
                                              std::span<const node_capacity> nodes);

/// The move away from the node that ends last which brings most, if it brings more than 2 % of what is left and a
/// quarter of the time that it takes: fewer moves, late, are all that is needed. A model that has not begun moves for
/// nothing. The model waits while it moves.
std::optional<model_move> best_move(std::span<const placeable_model> models, std::span<const node_capacity> nodes);

}  // namespace hydra
