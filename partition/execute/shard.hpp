#pragma once
// A contiguous piece of a chain: its forward, and its recomputation + backward (numerics contract, rules 2-5).

#include "models/chain.hpp"
#include "models/parameter_layout.hpp"
#include "models/row_chunks.hpp"
#include "runtime/base/tensor_fwd.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace hydra {

/// Identity of one visit's randomness and the step's loss divisor.
struct visit_context {
  std::uint64_t seed = 0;
  std::uint32_t step = 0;
  std::uint32_t micro_batch = 0;
  std::size_t targets = 1;      ///< of the whole step: the loss divisor, known before the first forward
  bool training = true;         ///< false: no dropout
  bool lowest_trained = false;  ///< nothing below the shard is trained: its input needs no gradient
};

class saved_graph;         // partition/execute/saved_graph.hpp
struct read_buffers;
struct backward_result;    // partition/execute/shard_tensors.hpp
struct bound_parameters;
struct shard_values;

/// Layers [first, last) of a chain. Immutable and thread-safe; the tensors are arguments.
class shard {
 public:
  shard(std::shared_ptr<const chain> model, std::size_t first, std::size_t last);

  const parameter_layout& layout() const noexcept { return layout_; }
  bool first() const { return below() == 0; }
  bool last() const noexcept { return last_ == model_->size(); }

  /// Output for one micro-batch, without gradient. `parameters`: layout().elements() of layout().type(), and
  /// layout().base_bytes().
  at::Tensor forward(const shard_values& parameters, const at::Tensor& input, const visit_context& context) const;

  /// Evaluation of one micro-batch: fp32 [2] = sum of the losses, number of correct predictions (0 if the loss does not
  /// count them). Last shard only.
  at::Tensor score(const shard_values& parameters, const at::Tensor& input, const at::Tensor& targets,
                   const visit_context& context) const;

  /// `gradients`: flat fp32, zero.
  bound_parameters bind(const shard_values& parameters, const at::Tensor& gradients) const;

  /// Recomputes from the saved boundary and adds into the bound gradients. `upstream`: gradient of the output, or the
  /// targets for the last shard. The gradient of the input is computed unless the context says that no shard below is
  /// trained.
  backward_result backward(const bound_parameters& bound, const at::Tensor& input, const at::Tensor& upstream,
                           const visit_context& context) const;

  /// As forward(), and records in `graph` what backward_saved() needs. Not for the last shard.
  at::Tensor forward_saving(const shard_values& parameters, const at::Tensor& input, const visit_context& context,
                            saved_graph& graph) const;
  /// As backward(), with the same bits, from what the forward visit of the same micro-batch has recorded. `buffers`: as
  /// that visit had them, perhaps elsewhere. Uses the graph up.
  backward_result backward_saved(const bound_parameters& bound, const read_buffers& buffers, const at::Tensor& upstream,
                                 saved_graph& graph) const;

 private:
  /// Layers [begin, end) of the shard's.
  at::Tensor run(const bound_parameters& bound, const at::Tensor& input, const visit_context& context,
                 std::size_t begin, std::size_t end) const;
  /// The same without a graph.
  at::Tensor run_forward(const bound_parameters& views, at::Tensor x, const visit_context& context, std::size_t begin,
                         std::size_t end) const;
  bound_parameters views_of(const shard_values& parameters) const;
  at::Tensor loss_of(const at::Tensor& output, const at::Tensor& targets, const visit_context& context) const;
  at::Tensor score_of(const at::Tensor& output, const at::Tensor& targets) const;
  /// Layers whose output it reads, directly or not.
  std::size_t below() const;
  /// Some parameter of the layers below is trained.
  bool trains_below() const;
  std::vector<row_range> chunks_of(const at::Tensor& below, const at::Tensor& targets) const;
  at::Tensor backward_from_loss(const bound_parameters& bound, at::Tensor below, const at::Tensor& targets,
                                const visit_context& context) const;
  at::Tensor backward_in_chunks(const bound_parameters& bound, const at::Tensor& below, const at::Tensor& targets,
                                const visit_context& context) const;
  void add_part_of_last_layer(const bound_parameters& bound) const;
  backward_result differentiate(const bound_parameters& bound, const at::Tensor& input, const at::Tensor& upstream,
                                const visit_context& context) const;

  std::shared_ptr<const chain> model_;
  std::size_t first_;
  std::size_t last_;
  parameter_layout layout_;
  bool input_has_gradient_ = false;  ///< in a forward visit of a chain that depends on gradients
};

}  // namespace hydra
