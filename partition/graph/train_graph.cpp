#include "partition/graph/train_graph.hpp"

#include "partition/graph/graph_builder.hpp"
#include "runtime/base/fault.hpp"

#include <utility>

namespace hydra {

namespace {

class step_builder {
 public:
  explicit step_builder(const model_outline& model) : builder_(model, pass_kind::train) {
    for (const auto& s : model.shards) {
      if (s.steps_on_device && model.shape.lanes() > 1) {
        throw fault_error(fault_code::internal, "a device would step a shard with the gradients of one lane alone");
      }
    }
  }

  work_graph build() && {
    for (std::uint32_t lane = 0; lane < shape().lanes(); ++lane) {
      for (std::uint32_t s = 0; s + 1 < shape().shards; ++s) {
        add_forward(begin(lane, direction::forward, s));
      }
      for (std::uint32_t s = shape().shards; s-- > shape().first_trained;) {
        add_backward(begin(lane, direction::backward, s));
      }
    }
    return std::move(builder_).graph();
  }

 private:
  const step_shape& shape() const noexcept { return builder_.model().shape; }

  work_unit begin(std::uint32_t lane, direction way, std::uint32_t shard) {
    work_unit u;
    u.what.replica = replica_id{lane / shape().waves};
    u.what.wave = wave_index{lane % shape().waves};
    u.what.way = way;
    u.what.shard = shard_index{shard};
    u.what.first_micro_batch = micro_batch_index{lane * shape().lane_size()};
    u.what.micro_batches = shape().lane_size();
    builder_.read_shard(u);
    builder_.read_input(u);
    return u;
  }

  void add_forward(work_unit u) {
    builder_.write_boundary(u);
    if (saves(u.what.shard)) {
      u.writes.push_back(saved(u));
    }
    builder_.add(std::move(u));
  }

  void add_backward(work_unit u) {
    const auto s = u.what.shard;
    if (builder_.is_last(s)) {
      builder_.read_targets(u);
    } else {
      u.reads.push_back(upstream(block_role::upstream, s, u));
    }
    if (saves(s)) {
      u.reads.push_back(saved(u));
    }
    if (s.value > shape().first_trained) {
      u.writes.push_back(upstream(block_role::output, shard_index{s.value - 1}, u));
    }
    add_results(u);
    builder_.add(std::move(u));
  }

  void add_results(work_unit& u) {
    const auto wave = u.what.wave.value;
    const bool steps = builder_.shard(u.what.shard).steps_on_device;
    if (wave > 0) {
      u.reads.push_back(sum(u, wave - 1));
    }
    if (!steps) {
      u.writes.push_back(sum(u, wave));
    }
    if (builder_.is_last(u.what.shard)) {
      builder_.write_loss(u, builder_.model().loss);
    }
    if (steps) {
      add_step(u);
    }
  }

  /// Reads the state of its version, writes the next one.
  void add_step(work_unit& u) {
    const auto s = u.what.shard;
    const auto& state = builder_.shard(s).state;
    const auto parameters = builder_.name(block_kind::parameters, s);
    u.writes.push_back(next(block_role::parameters, {.id = parameters, .bytes = builder_.shard(s).parameters}));
    for (std::uint32_t i = 0; i < state.size(); ++i) {
      const graph_block buffer{
          .id = builder_.name(block_kind::state, s, i), .bytes = state[i], .life = block_life::of_version};
      u.reads.push_back(builder_.use(block_role::state, buffer));
      u.writes.push_back(next(block_role::state, buffer));
    }
  }

  /// The next version of the block.
  block_use next(block_role role, graph_block b) {
    b.id.step = b.id.step.next();
    b.life = block_life::of_version;
    return builder_.use(role, b);
  }

  /// Of the last shard there is nothing to save: its forward is part of its backward visit.
  bool saves(shard_index s) const {
    const bool visited_twice = !builder_.is_last(s) && s.value >= shape().first_trained;
    return visited_twice && builder_.shard(s).saved > byte_count{};
  }

  block_use saved(const work_unit& u) {
    const auto s = u.what.shard;
    return builder_.use(block_role::saved, {.id = builder_.name(block_kind::saved, s, u.what.first_micro_batch.value),
                                            .bytes = builder_.shard(s).saved,
                                            .parts = u.what.micro_batches,
                                            .life = block_life::on_device});
  }

  /// The gradient of the output of `s`.
  block_use upstream(block_role role, shard_index s, const work_unit& u) {
    return builder_.use_parts(role, u, builder_.name(block_kind::upstream, s), builder_.shard(s).output);
  }

  /// Of the unit's replica, after that wave.
  block_use sum(const work_unit& u, std::uint32_t wave) {
    auto id = builder_.name(block_kind::gradients, u.what.shard, wave);
    id.replica = u.what.replica;
    const auto& s = builder_.shard(u.what.shard);
    const bool whole = wave + 1 == shape().waves;
    return builder_.use(block_role::sum, {.id = id, .bytes = whole ? s.gradients : s.partial_sum});
  }

  graph_builder builder_;
};

}  // namespace

work_graph train_graph(const model_outline& model) { return step_builder(model).build(); }

}  // namespace hydra
