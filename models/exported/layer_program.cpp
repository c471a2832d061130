#include "models/exported/layer_program.hpp"

#include "models/exported/hydra_operations.hpp"
#include "models/exported/linear_uses.hpp"
#include "models/exported/operators.hpp"
#include "models/exported/value_scalar.hpp"
#include "models/layers/batch_norm.hpp"
#include "models/layers/linear_map.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"

#include <ATen/Context.h>
#include <ATen/ScalarOps.h>
#include <ATen/core/List.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <exception>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace hydra {

namespace {

using c10::IValue;
using c10::TypeKind;

/// In the order of memory_order.
constexpr std::array memory_formats{at::MemoryFormat::Contiguous, at::MemoryFormat::Preserve,
                                    at::MemoryFormat::ChannelsLast, at::MemoryFormat::ChannelsLast3d};

bool is_tensor(const c10::Type* type) {
  if (type && type->kind() == TypeKind::OptionalType) return is_tensor(type->containedType(0).get());
  return type && type->kind() == TypeKind::TensorType;
}

/// As Python does with a number where a tensor is expected.
template <class Number>
IValue number_for(const c10::Type* type, Number n) {
  return is_tensor(type) ? IValue{at::native::wrapped_scalar_tensor(n)} : IValue{n};
}

const c10::Type* element_of(const c10::Type* list) {
  if (!list) return nullptr;
  if (list->kind() == TypeKind::OptionalType) return element_of(list->containedType(0).get());
  return list->containedType(0).get();
}

template <class Element, class Get>
IValue list_value(const std::vector<IValue>& elements, const Get& get) {
  c10::List<Element> all;
  all.reserve(elements.size());
  for (const IValue& e : elements) all.push_back(get(e));
  return all;
}

/// A list of the elements that the schema's type says.
IValue list_of(const std::vector<IValue>& all, const c10::Type& element) {
  switch (element.kind()) {
    case TypeKind::IntType:
    case TypeKind::SymIntType:
      return list_value<std::int64_t>(all, [](const IValue& e) { return e.toInt(); });
    case TypeKind::FloatType:
      return list_value<double>(all, [](const IValue& e) { return e.toDouble(); });
    case TypeKind::BoolType:
      return list_value<bool>(all, [](const IValue& e) { return e.toBool(); });
    case TypeKind::NumberType:
      return list_value<at::Scalar>(all, [](const IValue& e) { return e.toScalar(); });
    case TypeKind::TensorType:
      return list_value<at::Tensor>(all, [](const IValue& e) { return e.toTensor(); });
    case TypeKind::OptionalType:
      return list_value<std::optional<at::Tensor>>(
          all, [](const IValue& e) { return e.isNone() ? std::nullopt : std::optional{e.toTensor()}; });
    default:
      refuse("a list of " + element.str() + " is not an argument of a graph");
  }
}

/// Of all that LibTorch can compute in an order that varies, it says nothing of this gradient.
void check_order(const graph_call& call, const at::Tensor& x) {
  if (!call.op.starts_with("aten::max_pool2d") || !at::globalContext().deterministicAlgorithms()) return;
  if (x.is_cpu() || !at::GradMode::is_enabled() || x.suggest_memory_format() != at::MemoryFormat::ChannelsLast) return;
  refuse(fmt::format(
      "{}: its input's channels come last in memory; on {} the gradient is then added in an order that varies. Take "
      "memory_format=torch.channels_last out of the module, or call .contiguous() before the pool, and export it again",
      call.op, x.device().str()));
}

template <class... Actions>
struct overloaded : Actions... {
  using Actions::operator()...;
};

}  // namespace

class layer_program::prepared_calls {
 public:
  explicit prepared_calls(const graph_layer& layer);
  std::vector<at::Tensor> run(const layer_tensors& on, std::int64_t samples, const layer_context& context) const;

 private:
  using slot = std::size_t;
  struct prepared_argument;
  using prepared_list = std::vector<prepared_argument>;
  /// A constant, a value, a size for the number of samples, or a list.
  struct prepared_argument {
    std::variant<IValue, slot, size_expression, device_of_run, prepared_list> is;
  };
  struct prepared_call {
    const graph_call* of = nullptr;
    std::optional<c10::OperatorHandle> op{};  ///< none: one of Hydra's
    std::vector<prepared_argument> arguments{};
    std::vector<std::optional<slot>> results{};
    std::vector<slot> last{};  ///< what nobody needs after it
    std::vector<std::size_t> written{};   ///< arguments that it changes
    std::optional<linear_use> linear{};   ///< to which an adapter may add
  };
  struct frame;

  slot slot_of(const std::string& value) const;
  prepared_argument prepare(const graph_argument& a, const c10::Type* type) const;
  prepared_call prepare(const graph_call& call) const;
  void find_last_uses();
  void run(const prepared_call& call, frame& on) const;
  void run_own(const prepared_call& call, frame& on) const;
  [[noreturn]] void refuse_arguments(const graph_call& call) const;
  void check_output(const graph_part& part, const at::Tensor& is, std::int64_t samples) const;

  graph_layer layer_;
  std::vector<std::string> names_;  ///< of the slots, sorted
  std::vector<prepared_call> calls_;
};

/// The values of one run.
struct layer_program::prepared_calls::frame {
  std::vector<IValue> values;
  std::int64_t samples;
  at::Device device;
  const layer_context& context;
  const layer_tensors& given;
  const prepared_calls& program;

  /// Some operations give their argument, or a view of it, without saying so in their schema (type_as).
  void check_written(const std::string& op, const IValue& is) const {
    const auto shares = [&](const at::Tensor& kept) { return is.isTensor() && is.toTensor().is_alias_of(kept); };
    for (const auto& kept : {given.parameters, given.constants, given.inputs})
      if (std::ranges::any_of(kept, shares))
        refuse(op +
               " would change an input, a parameter or a constant of its layer; the module has to change a copy "
               "(clone())");
  }

  std::int64_t size(const size_expression& of) const {
    return evaluate(of, samples, [this](const std::string& value, std::int64_t dimension) {
      return values.at(program.slot_of(value)).toTensor().size(dimension);
    });
  }

  IValue operator()(const prepared_argument& a, const c10::Type* type) const {
    return std::visit(overloaded{[](const IValue& is) { return is; }, [&](slot s) { return values[s]; },
                                 [&](const size_expression& s) { return number_for(type, size(s)); },
                                 [&](device_of_run) { return IValue{device}; },
                                 [&](const prepared_list& list) {
                                   const c10::Type* const element = element_of(type);
                                   std::vector<IValue> all;
                                   for (const prepared_argument& one : list) all.push_back((*this)(one, element));
                                   return list_of(all, *element);
                                 }},
                      a.is);
  }
};

layer_program::prepared_calls::prepared_calls(const graph_layer& layer) : layer_{layer} {
  for (const graph_part& p : layer_.inputs) names_.push_back(p.name);
  for (const graph_parameter& p : layer_.parameters) names_.push_back(p.is.value);
  for (const graph_tensor& t : layer_.constants) names_.push_back(t.value);
  for (const graph_call& call : layer_.calls)
    for (const auto& result : call.results)
      if (result) names_.push_back(*result);
  std::ranges::sort(names_);
  std::vector<std::optional<c10::OperatorHandle>> operations;
  for (const graph_call& call : layer_.calls) {
    calls_.push_back(prepare(call));
    operations.push_back(calls_.back().op);
  }
  check_writes(layer_, operations);
  for (const linear_use& use : linear_uses(layer_)) calls_[use.call].linear = use;
  find_last_uses();
}

layer_program::prepared_calls::slot layer_program::prepared_calls::slot_of(const std::string& value) const {
  return static_cast<slot>(std::ranges::lower_bound(names_, value) - names_.begin());
}

// -- preparing --------------------------------------------------------------------------------------------------------

layer_program::prepared_calls::prepared_argument layer_program::prepared_calls::prepare(const graph_argument& a,
                                                                                        const c10::Type* type) const {
  using made = prepared_argument;
  return std::visit(
      overloaded{[](std::monostate) { return made{IValue{}}; },
                 [&](const value_reference& v) { return made{slot_of(v.name)}; },
                 [&](std::int64_t n) { return made{number_for(type, n)}; },
                 [&](double n) { return made{number_for(type, n)}; }, [&](bool n) { return made{number_for(type, n)}; },
                 [](const size_expression& s) { return made{s}; }, [](const std::string& s) { return made{IValue{s}}; },
                 [](value_type t) { return made{IValue{scalar_type(t)}}; },
                 [](layout_strided) { return made{IValue{at::kStrided}}; }, [](device_of_run d) { return made{d}; },
                 [](memory_order o) { return made{IValue{memory_formats[static_cast<std::size_t>(o)]}}; },
                 [&](const argument_list& list) {
                   prepared_list all;
                   for (const graph_argument& one : list) all.push_back(prepare(one, element_of(type)));
                   return made{std::move(all)};
                 }},
      a.is);
}

layer_program::prepared_calls::prepared_call layer_program::prepared_calls::prepare(const graph_call& call) const {
  prepared_call made{.of = &call};
  if (call.op.starts_with("hydra::"))
    check_own(call);
  else
    made.op = operator_of(call);
  for (std::size_t i = 0; i < call.arguments.size(); ++i)
    made.arguments.push_back(
        prepare(call.arguments[i], made.op ? made.op->schema().arguments()[i].real_type().get() : nullptr));
  for (std::size_t i = 0; made.op && i < made.arguments.size(); ++i) {
    const auto* const alias = made.op->schema().arguments()[i].alias_info();
    if (alias && alias->isWrite()) made.written.push_back(i);
  }
  for (const auto& result : call.results)
    made.results.push_back(result ? std::optional{slot_of(*result)} : std::nullopt);
  return made;
}

void layer_program::prepared_calls::find_last_uses() {
  std::vector<char> needed(names_.size());
  for (const graph_part& p : layer_.outputs) needed[slot_of(p.name)] = true;
  for (auto call = calls_.rbegin(); call != calls_.rend(); ++call) {
    std::vector<std::string> names;
    for (const graph_argument& a : call->of->arguments) std::ranges::move(values_in(a), std::back_inserter(names));
    for (const auto& result : call->of->results)
      if (result) names.push_back(*result);
    for (const std::string& name : names)
      if (const slot s = slot_of(name); !std::exchange(needed[s], true)) call->last.push_back(s);
  }
}

// -- running ----------------------------------------------------------------------------------------------------------

std::vector<at::Tensor> layer_program::prepared_calls::run(const layer_tensors& on, std::int64_t samples,
                                                           const layer_context& context) const {
  frame f{std::vector<IValue>(names_.size()), samples, on.inputs.front().device(), context, on, *this};
  for (std::size_t i = 0; i < layer_.inputs.size(); ++i) f.values[slot_of(layer_.inputs[i].name)] = on.inputs[i];
  for (std::size_t i = 0; i < layer_.parameters.size(); ++i)
    f.values[slot_of(layer_.parameters[i].is.value)] = on.parameters[i];
  for (std::size_t i = 0; i < layer_.constants.size(); ++i)
    f.values[slot_of(layer_.constants[i].value)] = on.constants[i];
  for (const prepared_call& call : calls_) {
    const at::AutoGradMode gradients{call.of->has_gradient && at::GradMode::is_enabled()};
    try {
      run(call, f);
    } catch (const c10::AcceleratorError&) {
      throw;
    } catch (const c10::Error&) {
      if (!f.device.is_cpu()) throw;  // it may be a failure of the device
      refuse_arguments(*call.of);
    }
    for (const slot s : call.last) f.values[s] = {};
  }
  std::vector<at::Tensor> outputs;
  for (const graph_part& p : layer_.outputs) {
    outputs.push_back(f.values[slot_of(p.name)].toTensor());
    check_output(p, outputs.back(), samples);
  }
  return outputs;
}

/// LibTorch's refusal of what the graph gives; that memory is missing stays what it is.
void layer_program::prepared_calls::refuse_arguments(const graph_call& call) const {
  const fault why = to_fault(std::current_exception());
  if (why.code != fault_code::internal) throw;
  refuse(fmt::format("layer {}: {}: its \"args\" do not suit: {}", layer_.name, call.op, shown(why.text)));
}

void layer_program::prepared_calls::run(const prepared_call& call, frame& on) const {
  if (!call.op) return run_own(call, on);
  const auto& wanted = call.op->schema().arguments();
  torch::jit::Stack stack;
  stack.reserve(wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) stack.push_back(on(call.arguments[i], wanted[i].real_type().get()));
  for (const std::size_t i : call.written) on.check_written(call.of->op, stack.at(i));
  if (!stack.empty() && stack[0].isTensor()) check_order(*call.of, stack[0].toTensor());
  const bool adapted = call.linear && !on.context.low_rank.empty();
  const at::Tensor x = adapted ? stack.at(call.linear->factor).toTensor() : at::Tensor{};
  call.op->callBoxed(stack);
  if (adapted)
    stack.at(0) = add_low_rank(stack[0].toTensor(), on.given.parameters, {call.linear->weight}, x, on.context);
  if (call.of->returns_list) {
    const std::vector<at::Tensor> made = stack.at(0).toTensorVector();
    if (made.size() != call.results.size())
      refuse(
          fmt::format("{} has made {} tensors, and the graph names {}", call.of->op, made.size(), call.results.size()));
    for (std::size_t i = 0; i < made.size(); ++i)
      if (call.results[i]) on.values[*call.results[i]] = made[i];
    return;
  }
  for (std::size_t i = 0; i < call.results.size(); ++i)
    if (call.results[i]) on.values[*call.results[i]] = std::move(stack.at(i));
}

void layer_program::prepared_calls::run_own(const prepared_call& call, frame& on) const {
  const auto value = [&](std::size_t i) { return on(call.arguments.at(i), nullptr); };
  const auto tensor = [&](std::size_t i) { return value(i).isNone() ? at::Tensor{} : value(i).toTensor(); };
  const auto site = [&](std::size_t i) { return static_cast<std::uint32_t>(value(i).toInt()); };
  at::Tensor made;
  if (call.of->op == "hydra::dropout") {
    made = graph_dropout(tensor(0), value(1).toDouble(), site(2), on.context);
  } else if (call.of->op == "hydra::attention") {
    made = graph_attention({.query = tensor(0),
                            .key = tensor(1),
                            .value = tensor(2),
                            .mask = tensor(3),
                            .dropout = value(4).toDouble(),
                            .is_causal = value(5).toBool(),
                            .scale = value(6).isNone() ? std::nullopt : std::optional{value(6).toDouble()},
                            .grouped = value(7).toBool(),
                            .site = site(8)},
                           on.context);
  } else {
    made = batch_norm(tensor(0), std::array{tensor(1), tensor(2), tensor(3), tensor(4)}, on.context,
                      {.momentum = value(5).toDouble(), .eps = value(6).toDouble()});
  }
  if (call.results.at(0)) on.values[*call.results[0]] = std::move(made);
}

void layer_program::prepared_calls::check_output(const graph_part& part, const at::Tensor& is,
                                                 std::int64_t samples) const {
  const std::vector<std::int64_t> shape = evaluate(part.shape, samples);
  if (is.scalar_type() == scalar_type(part.type) && is.sizes() == c10::IntArrayRef{shape}) return;
  refuse(fmt::format("layer {}: the output \"{}\" is {} [{}], and the graph says {} [{}]", layer_.name, part.name,
                     at::toString(is.scalar_type()), fmt::join(is.sizes(), ", "), to_string(part.type),
                     fmt::join(shape, ", ")));
}

layer_program::layer_program(const graph_layer& layer) : calls_{std::make_shared<const prepared_calls>(layer)} {}

std::vector<at::Tensor> layer_program::run(const layer_tensors& on, std::int64_t samples,
                                           const layer_context& context) const {
  return calls_->run(on, samples, context);
}

}  // namespace hydra
