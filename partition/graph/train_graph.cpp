#include "partition/graph/train_graph.hpp"

#include "partition/graph/graph_builder.hpp"
#include "runtime/base/fault.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace hydra {

namespace {

class step_builder {
 public:
  explicit step_builder(const model_outline& model) : builder_(model, pass_kind::train) {
    for (std::uint32_t s = 0; s < model.shards.size(); ++s) {
      if (model.shards[s].steps_on_device && model.shape.visits_of(s) > 1) {
        throw fault_error(fault_code::internal, "a device would step a shard with the gradients of one lane alone");
      }
    }
  }

  work_graph build() && {
    const auto all = shape().shards, met = shape().meets;
    for (std::uint32_t visit = 0; visit < shape().visits(); ++visit) {
      add_forwards(visit, 0, met > 0 ? met : all - 1);
      if (met == 0) {
        add_backwards(visit, 0, all);
      }
    }
    if (met > 0) {
      add_forwards(0, met, all - 1);
      add_backwards(0, met, all);
    }
    for (std::uint32_t visit = 0; met > 0 && visit < shape().visits(); ++visit) {
      add_backwards(visit, 0, met);
    }
    return std::move(builder_).graph();
  }

 private:
  const step_shape& shape() const noexcept { return builder_.model().shape; }

  void add_forwards(std::uint32_t visit, std::uint32_t first, std::uint32_t past) {
    for (auto s = first; s < past; ++s) {
      add_forward(begin(visit, direction::forward, s));
    }
  }

  void add_backwards(std::uint32_t visit, std::uint32_t first, std::uint32_t past) {
    for (auto s = past; s-- > std::max(first, shape().first_trained);) {
      add_backward(begin(visit, direction::backward, s));
    }
  }

  work_unit begin(std::uint32_t visit, direction way, std::uint32_t shard) {
    work_unit u;
    u.what.replica = replica_id{visit / shape().waves};
    u.what.wave = wave_index{visit % shape().waves};
    u.what.way = way;
    u.what.shard = shard_index{shard};
    u.what.micro_batches = shape().batches_of(shard);
    u.what.first_micro_batch = micro_batch_index{visit * u.what.micro_batches};
    u.what.piece = piece_index{shard - builder_.first_of(u.what.shard).value};
    builder_.read_shard(u);
    return u;
  }

  void add_forward(work_unit u) {
    builder_.read_input(u);
    builder_.write_boundary(u);
    if (reads_joined_again(u.what.shard)) {
      builder_.write_joined(u);
    }
    if (saves(u.what.shard)) {
      u.writes.push_back(saved(u));
    }
    builder_.add(std::move(u));
  }

  void add_backward(work_unit u) {
    const auto s = u.what.shard;
    if (builder_.is_last(s)) {
      builder_.read_input(u);
      builder_.read_targets(u);
    } else {
      builder_.read_joined_input(u);
      read_upstream(u);
    }
    if (saves(s)) {
      u.reads.push_back(saved(u));
    }
    if (passes_on(s)) {
      append(u.writes, gradient_of_input(block_role::output, s, u));
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

  /// Something below it is trained.
  bool passes_on(shard_index s) const {
    return builder_.first_of(s).value > shape().first_trained;
  }

  /// By its backward visit, or by the shard behind a group, which adds to it.
  bool reads_joined_again(shard_index s) const {
    const auto* terms = builder_.group_behind(s);
    return s.value >= shape().first_trained || (terms && terms->adds_to_input());
  }

  void read_upstream(work_unit& u) {
    const auto s = u.what.shard;
    const auto* terms = builder_.group_behind(s);
    if (terms == nullptr) {
      const auto* own = builder_.group_of(s);
      append(u.reads, gradient_of_input(block_role::upstream, shard_index{own ? own->past() : s.value + 1}, u));
      return;
    }
    for (auto t = terms->past(); t-- > terms->first;) {
      append(u.reads, gradient_of_input(block_role::upstream, shard_index{t}, u));
    }
    if (terms->adds_to_input() && passes_on(s)) {
      append(u.reads, gradient_of_input(block_role::skip, shard_index{terms->past()}, u));
    }
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

  /// Of what `s` reads; of a shard of a group its term of it.
  std::vector<block_use> gradient_of_input(block_role role, shard_index s, const work_unit& u) {
    const auto id = builder_.group_of(s) ? builder_.name(block_kind::term, s)
                                         : builder_.name(block_kind::upstream, shard_index{s.value - 1});
    return builder_.use_parts(role, u, id, builder_.input_of(s), builder_.below(s));
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
