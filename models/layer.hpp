#pragma once
// A layer: a functional piece of a chain. To add one, write a class like this, use it in a chain (docs/extending.md).

#include "models/frozen/base_format.hpp"
#include "models/parameter_slice.hpp"
#include "models/tensor_spec.hpp"
#include "runtime/base/shard_group.hpp"
#include "runtime/base/tensor_fwd.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hydra {

/// How a parameter starts. The i-th value is a pure function of (model seed, full parameter name, i).
struct initial_value {
  enum class kind : std::uint8_t { constant, normal, uniform } how = kind::constant;
  double value = 0;  ///< constant: the value; normal: the deviation; uniform: the bound of [-value, value]
};

/// Whether a parameter is the weight of a linear map that the layer computes by linear_map (layers/linear_map.hpp), so
/// that an adapter may add to it, and the order of its dimensions.
enum class linear_weight : std::uint8_t { none, out_in, in_out };

/// One parameter of a layer. `name` is relative to the layer; the chain prefixes it. A non-empty `tied_to` names (in
/// full) the parameter of another layer whose values this one repeats: a replica, initialised from and stepped with
/// its owner (numerics contract, rule 10).
///
/// `frozen` is set by the chain (chain::freeze), or by the layer for a parameter that is never trained: it keeps its
/// initial values. `stored` is the
/// format that these are rounded to (chain::store_base).
///
/// With `averaging` m above 0 it is a running average, which is not trained (the statistics of a batch norm): its
/// gradient slice ends a step of K micro-batches as sum over k of m * (1-m)^(K-1-k) * x_k, and the update makes
/// (1-m)^K * average + slice of it. No optimizer state, not in the gradient norm.
///
/// With a `slice` it is a part of a parameter of that whole_name() and shape, and starts with its values.
struct parameter_spec {
  std::string name;
  std::vector<std::int64_t> shape;
  initial_value initial;
  std::string tied_to;
  double averaging = 0;
  bool frozen = false;
  base_format stored = base_format::as_computed;
  linear_weight linear = linear_weight::none;
  std::optional<parameter_slice> slice{};

  std::int64_t elements() const noexcept;
};

/// What an adapter adds to a linear map of a layer: scale * dropout(x) A^T B^T. Indices in the layer's parameters; A is
/// [rank, in], B is [out, rank]. With a magnitude [out] (DoRA, Liu et al. 2024) each output is then scaled so that its
/// row of W + scale B A has that norm; the norm of the row is a constant for gradients (section 4.3).
struct low_rank_term {
  std::size_t weight = 0, a = 0, b = 0;
  std::optional<std::size_t> magnitude{};
  linear_weight order = linear_weight::out_in;  ///< of the weight
  double scale = 1;
  double dropout = 0;
  std::uint32_t site = 0;  ///< of the dropout
};

/// The identity of one application of a layer, which is everything a keyed random number may depend on, and what an
/// adapter adds to its linear maps.
struct layer_context {
  std::uint64_t seed = 0;  ///< the model's
  std::uint32_t step = 0;
  std::uint32_t micro_batch = 0;
  std::uint32_t layer = 0;  ///< index in the chain; all pieces of a layer have the same one
  bool training = true;     ///< false: no dropout
  std::span<const low_rank_term> low_rank{};
};

struct decode_memory;

/// How a chain's layers are divided.
struct division {
  std::uint32_t pieces = 1;
  bool side_by_side = false;  ///< each piece leaves its term; else one after the other adds to their sum
  std::string prefix{};  ///< of the layer's parameters
  /// The classes are in pieces: the samples have a row of targets, and the boundaries their columns
  /// (pieces/token_columns.hpp).
  bool targets = false;
};

class layer;

/// Where a layer stands in its chain. A piece that is computed side by side with others (`piece.of` > 1) gets the
/// output of the layer before the first of them, and the layer behind them gets what they leave, joined.
struct chain_place {
  piece_place piece{};
  term_join join = term_join::sum;

  bool adds_to_input() const noexcept { return join == term_join::sum_with_input; }
  friend bool operator==(const chain_place&, const chain_place&) = default;
};

struct chain_part {
  std::shared_ptr<const layer> body;
  chain_place place{};
};

/// Functional: no state, no tensors as members. Thread-safe because const.
class layer {
 public:
  virtual ~layer() = default;

  /// Parameters in the order in which forward() gets them.
  virtual std::vector<parameter_spec> parameters() const = 0;

  /// Shape of the output for an input shape. Throws fault_error{bad_input} if the input does not suit.
  virtual tensor_spec output(const tensor_spec& input) const = 0;

  /// The output, differentiable when grad mode is on. `parameters` are contiguous views into one flat buffer, fp32 or
  /// (if the devices compute in it) bf16; `input` is of their type [samples, ...], or i64 ids for a first layer, and
  /// the output has to be of it. Must be a pure function of its arguments.
  virtual at::Tensor forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                             const layer_context& context) const = 0;

  /// forward() without gradient, in a context that is not training, for the tokens [samples, new, ...] that follow
  /// those that `memory` remembers, which then remembers these, too (`seen` is the caller's). Layers of generating
  /// language models have it; the others throw fault_error{bad_input}.
  virtual at::Tensor decode(std::span<const at::Tensor> parameters, const at::Tensor& input,
                            const layer_context& context, decode_memory& memory) const;

  /// True if each row (the last dimension) of an output [samples, tokens, ...] depends on that row of the input alone,
  /// so that rows may be computed a chunk at a time, as [1, rows, ...] (chain::chunk_loss).
  virtual bool is_row_wise() const { return false; }

  /// True if bits of an output may depend on whether gradients are on, as those of PyTorch's attention do with a mask
  /// that has one. A forward visit in training then has them on, and drops the graph of each layer at once.
  virtual bool depends_on_gradients() const { return false; }

  /// The layers that compute the same in pieces; none: this one stays whole. Throws fault_error{bad_input} with the
  /// reason if it cannot be divided so.
  virtual std::vector<chain_part> in_pieces(const division& into) const;

  /// Whether the classes of a last layer can be in pieces (division::targets).
  virtual bool divides_classes() const { return false; }

  /// Equal for layers that behave and cost the same for equal input shapes (the pilot measures each signature once).
  virtual std::string signature() const = 0;
};

}  // namespace hydra
