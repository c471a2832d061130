#pragma once
// What graph.json of an exported model says (apps/python/hydra_export/FORMAT.md). Standard library only.

#include "models/exported/size_expression.hpp"
#include "runtime/device/precision.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace hydra {

enum class value_type : std::uint8_t { f32, f64, bf16, f16, i64, i32, i16, i8, u8, boolean };

/// Bytes of an element.
std::uint64_t width_of(value_type type) noexcept;
/// "f32"; "bool".
std::string to_string(value_type type);

/// A value that crosses a boundary between layers.
struct graph_part {
  std::string name;
  value_type type = value_type::f32;
  std::vector<size_expression> shape;
  std::vector<size_expression> strides;                  ///< in elements
  std::optional<std::vector<size_expression>> gradient;  ///< strides of its gradient; none: it has no gradient

  bool operator==(const graph_part&) const = default;
};

/// A tensor of model.safetensors in a layer; its strides are dense.
struct graph_tensor {
  std::string value;  ///< its name in the calls
  std::string name;
  value_type type = value_type::f32;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
};

struct graph_parameter {
  graph_tensor is;
  bool trained = false;
  std::string tied_to{};  ///< the parameter of an earlier layer whose tensor this is; empty: its own
  double averaging = 0;   ///< momentum of a running average; 0: none
};

struct graph_argument;

/// The forms of an argument. A number may stand for a tensor, which then counts as a number in type promotion.
struct value_reference {
  std::string name;
};
struct layout_strided {};
struct device_of_run {};
enum class memory_order : std::uint8_t { contiguous, preserve, channels_last, channels_last_3d };
using argument_list = std::vector<graph_argument>;

struct graph_argument {
  std::variant<std::monostate, value_reference, std::int64_t, double, bool, size_expression, std::string, value_type,
               layout_strided, device_of_run, memory_order, argument_list>
      is;
};

/// Names of the values that it is computed from, or whose size it needs, as often as they are there.
std::vector<std::string> values_in(const graph_argument& a);

struct graph_call {
  std::string op;        ///< "aten::linear", "hydra::dropout"
  std::string overload;  ///< empty: the one without name
  std::vector<graph_argument> arguments;
  std::vector<std::optional<std::string>> results;  ///< names; none for a result that nobody reads
  bool returns_list = false;                        ///< the results are elements of the one list that it returns
  bool has_gradient = true;
};

struct graph_layer {
  std::string name;  ///< for people
  std::string signature;
  std::vector<graph_part> inputs;
  std::vector<graph_part> outputs;
  std::vector<graph_parameter> parameters;
  std::vector<graph_tensor> constants;
  std::vector<graph_call> calls;
};

/// The output is a prediction, or the loss of the batch.
enum class graph_loss : std::uint8_t { none, mean, sum };

struct exported_graph {
  std::string torch;  ///< "2.11.0+cu130"
  precision numbers = precision::fp32;
  graph_loss loss = graph_loss::none;
  std::string weights;                ///< SHA-256 of model.safetensors, in hexadecimal digits
  std::vector<std::int64_t> checked;  ///< numbers of samples for which it was compared with the module
  std::vector<graph_part> inputs;
  graph_part output;
  std::vector<graph_layer> layers;
  std::map<std::string, std::vector<std::string>> names;  ///< of tensors: all names in the module's state
};

}  // namespace hydra
