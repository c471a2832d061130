#pragma once
// A user's description of a model.

#include "models/data/data_catalog.hpp"
#include "models/families/catalog.hpp"
#include "models/optimizer/update_rule.hpp"
#include "partition/plan/cut.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/base/step_shape.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace hydra {

/// When a model is evaluated on its validation data, and on how much of it (from its beginning, in whole
/// micro-batches).
struct validation_options {
  std::uint32_t every_steps = 0;      ///< 0: after the last step only
  std::uint32_t batches = 0;          ///< of batch_size samples; 0: all
  bool keep_best = false;             ///< also save the state of the evaluation with the smallest loss
};

/// How a step of a model is divided for several devices. 0: the planner chooses the number with which it predicts the
/// shortest run; of a model that joins a run it chooses 1. A run that is resumed needs the replicas that were chosen,
/// as a number (hydra train takes them from the run folder).
struct parallel_options {
  std::uint32_t replicas = 1;         ///< divides micro_batches; each adds up its own gradients, and the sums are added
                                      ///< in their order: decides results (step_shape)
  std::uint32_t waves = 1;            ///< divides the micro-batches of a replica: so many visits of each shard and
                                      ///< direction, which other devices may continue; decides no results
  bool chosen() const noexcept { return replicas > 0 && waves > 0; }
  /// 1 for what is not chosen.
  parallel_options or_one() const noexcept { return {std::max(replicas, 1u), std::max(waves, 1u)}; }
  friend bool operator==(const parallel_options&, const parallel_options&) = default;
};

/// One model of the workload.
struct model_description {
  std::string name{};
  chain_description chain{};
  data_description data{};
  std::uint32_t batch_size = 0;       ///< samples per optimizer step
  std::uint32_t micro_batches = 1;    ///< divides batch_size
  parallel_options parallel{};
  /// name of the layer before which the replicas meet: from there on a step visits each shard once, with all of its
  /// micro-batches, and has one gradient sum; decides results. Empty: they do not
  std::string replicas_until{};
  std::uint32_t nodes = 1;  ///< of a cluster, that train it together: each some of its replicas; decides no results
  step_share share{};  ///< of its replicas, those that this run computes: the others by session_options::partners
  bool evaluate_only = false;         ///< no training: neither epochs nor steps, one evaluation
  std::uint32_t epochs = 0;           ///< exactly one of epochs and steps
  std::uint32_t steps = 0;
  update_options optimizer{};
  cut_choice cuts{};                  ///< balanced, greedy, first layer of each shard, or a saved plan's
  std::optional<validation_options> validate{};  ///< default: after the last step, on all validation data
  std::optional<std::uint64_t> seed{};  ///< default: the session's
  /// folder of a checkpoint, saved between two steps by this or another run, with whose parameters, optimizer state,
  /// history and step it starts; empty: from the beginning
  std::filesystem::path begins{};
  bool stop_on_nan = true;            ///< it fails by a loss, an evaluation or a last update that is not finite
  double priority = 1;                ///< weight of its completion, above 0
  std::optional<duration> deadline{}; ///< since the start of the run; after its arrival
  duration arrival{};                 ///< since the start of the run: it takes part from then on
};

}  // namespace hydra
