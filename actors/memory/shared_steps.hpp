#pragma once
// Models whose steps are shared with other nodes: what is exchanged with them before a shard is stepped. Pure, but for
// what the partners do.

#include "actors/protocol/step_partners.hpp"
#include "actors/protocol/update.hpp"
#include "partition/execute/model_update.hpp"
#include "partition/execute/sharded_model.hpp"
#include "runtime/base/ids.hpp"
#include "runtime/base/unit.hpp"
#include "runtime/memory/host_arena.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace hydra {

/// Gradient sums of a shard, or, without a shard, the losses of a step.
struct exchanged_values {
  model_id model{};
  step_index step{};
  std::optional<shard_index> shard{};
  shard_home home{};            ///< with all that is added to the sum of the step
  std::vector<float> losses{};  ///< of all micro-batches
  std::size_t missing = 0;  ///< exchanges: of each layer one, as nodes may have cut the model in other ways
};

class shared_steps {
 public:
  using answer_sink = std::function<void(const values_exchanged&)>;

  /// `partners` may be null if no model is shared. `answers`: thread-safe; may outlive this.
  shared_steps(step_partners* partners, host_arena& arena, answer_sink answers);

  /// Of the micro-batches of a unit. When all that are computed here are known, they are exchanged.
  void add_losses(const unit& u, const sharded_model& what, const std::vector<float>& losses);
  /// The sums of all replicas here. Throws fault_error{out_of_memory} if those of others have no room, which
  /// host_demand excludes.
  void add_sums(model_id model, shard_index shard, step_index step, const sharded_model& what, shard_home home);
  /// None if some of the values are missing, or if the model has been forgotten since, or if its partners cannot
  /// continue: then it waits until it is dropped.
  std::optional<exchanged_values> take(const values_exchanged& answer);
  void forget(model_id model);

 private:
  void exchange(const sharded_model& what, std::uint64_t number, bool adds, std::vector<std::span<float>> replicas,
                const std::shared_ptr<exchanged_values>& values);

  step_partners* partners_;
  host_arena& arena_;
  answer_sink answers_;
  std::uint64_t last_ticket_ = 0;
  std::map<std::uint64_t, std::shared_ptr<exchanged_values>> open_;
  struct open_losses {
    std::shared_ptr<exchanged_values> values;
    std::size_t known = 0;
  };
  std::map<model_id, open_losses> losses_;  ///< of the step that is under way
};

}  // namespace hydra
