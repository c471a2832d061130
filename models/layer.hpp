#pragma once
// A layer: a functional piece of a chain. To add one, write such a class and use it in a chain (CONTRIBUTING.md).

#include "models/tensor_spec.hpp"
#include "runtime/base/tensor_fwd.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hydra {

/// How a parameter is initialised. The i-th value is a pure function of (model seed, full parameter name, i).
struct initial_value {
  enum class kind : std::uint8_t { constant, normal, uniform } how = kind::constant;
  double value = 0;  ///< constant: the value; normal: the deviation; uniform: the bound of [-value, value]
};

/// One parameter of a layer. `name` is relative to the layer; the chain prefixes it. A non-empty `tied_to` is the full
/// name of another layer's parameter whose values this one repeats: this one is a tied copy, initialised from its owner
/// and updated with it (numerics contract, rule 10).
///
/// With `averaging` m above 0 it is a running average, which is not trained (the statistics of a batch norm): after a
/// step of K micro-batches its gradient slice is the sum over k of m * (1-m)^(K-1-k) * x_k, and the update computes
/// (1-m)^K * average + that slice. It has no optimizer state and is not part of the gradient norm.
struct parameter_spec {
  std::string name;
  std::vector<std::int64_t> shape;
  initial_value initial;
  std::string tied_to;
  double averaging = 0;

  std::int64_t elements() const noexcept;
};

/// The identity of one application of a layer: everything a keyed random number may depend on.
struct layer_context {
  std::uint64_t seed = 0;  ///< the model's
  std::uint32_t step = 0;
  std::uint32_t micro_batch = 0;
  std::uint32_t layer = 0;  ///< index in the chain
  bool training = true;     ///< false: no dropout
};

struct decode_memory;

/// Functional: no state, no tensors as members. Thread-safe because const.
class layer {
 public:
  virtual ~layer() = default;

  /// Parameters in the order in which forward() gets them.
  virtual std::vector<parameter_spec> parameters() const = 0;

  /// Shape of the output for an input shape. Throws fault_error{bad_input} if the input does not fit.
  virtual tensor_spec output(const tensor_spec& input) const = 0;

  /// The output, differentiable when grad mode is on. `parameters` are contiguous views into one flat buffer, fp32 or
  /// (if the devices compute in it) bf16; `input` is [samples, ...] of the same type, or i64 ids for a first layer; the
  /// output must have that type, too. Must be a pure function of its arguments.
  virtual at::Tensor forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                             const layer_context& context) const = 0;

  /// forward() without dropout and gradient for the tokens [samples, new, ...] that follow those in `memory`; adds them
  /// to `memory` (except `seen`, which the caller updates). Implemented by the layers of generating language models;
  /// the others throw fault_error{bad_input}.
  virtual at::Tensor decode(std::span<const at::Tensor> parameters, const at::Tensor& input, decode_memory& memory) const;

  /// Equal for layers that have the same behaviour and cost for equal input shapes (the pilot measures each signature
  /// once).
  virtual std::string signature() const = 0;
};

}  // namespace hydra
