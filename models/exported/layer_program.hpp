#pragma once
// The calls of a layer of an exported model, ready to run.

#include "models/exported/graph.hpp"
#include "models/layer.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace hydra {

/// What a layer computes with, each in the order of the layer's description and with the strides that it says.
struct layer_tensors {
  std::span<const at::Tensor> parameters;
  std::span<const at::Tensor> constants;
  std::span<const at::Tensor> inputs;
};

/// Thread-safe because const.
class layer_program {
 public:
  /// Throws fault_error{bad_input} for calls that cannot run (operator_of(), check_writes()).
  explicit layer_program(const graph_layer& layer);

  /// The outputs of the layer for so many samples, differentiable when grad mode is on. A value is freed after the last call
  /// that needs it. Throws fault_error{bad_input} for an output of another shape or type than the layer says, and what the
  /// operations throw.
  std::vector<at::Tensor> run(const layer_tensors& on, std::int64_t samples, const layer_context& context) const;

 private:
  using slot = std::size_t;
  struct prepared_argument;
  using prepared_list = std::vector<prepared_argument>;
  /// A constant, a value, a size for the number of samples, or a list with a value or a size in it.
  struct prepared_argument {
    std::variant<c10::IValue, slot, size_expression, device_of_run, prepared_list> is;
  };
  struct prepared_call {
    const graph_call* of = nullptr;
    std::optional<c10::OperatorHandle> op{};  ///< none: one of Hydra's
    std::vector<prepared_argument> arguments{};
    std::vector<std::optional<slot>> results{};
    std::vector<slot> last{};  ///< what nobody needs after it
  };
  struct frame;

  slot slot_of(const std::string& value) const;
  prepared_argument prepare(const graph_argument& a, const c10::Type* type) const;
  prepared_call prepare(const graph_call& call) const;
  void find_last_uses();
  void run(const prepared_call& call, frame& on) const;
  void run_own(const prepared_call& call, frame& on) const;
  void check_output(const graph_part& part, const at::Tensor& is, std::int64_t samples) const;

  graph_layer layer_;
  std::vector<std::string> names_;  ///< of the slots, sorted
  std::vector<prepared_call> calls_;
};

}  // namespace hydra
