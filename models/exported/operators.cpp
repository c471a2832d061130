#include "models/exported/operators.hpp"

#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>

namespace hydra {

namespace {

using c10::TypeKind;

std::string name_of(const graph_call& call) { return call.overload.empty() ? call.op : call.op + "." + call.overload; }

// -- forms ------------------------------------------------------------------------------------------------------------

template <class... Forms>
bool is_one_of(const graph_argument& a) {
  return (std::holds_alternative<Forms>(a.is) || ...);
}

bool is_number(const graph_argument& a) { return is_one_of<std::int64_t, double, bool>(a); }

bool suits(const graph_argument& a, const c10::Type& type);

bool list_suits(const argument_list& list, const c10::Type& element) {
  return std::ranges::all_of(list, [&](const graph_argument& a) { return suits(a, element); });
}

/// Types of a schema are those of its text: int and SymInt differ, ScalarType is an int that has another name.
bool suits(const graph_argument& a, const c10::Type& type) {
  if (const auto* const list = std::get_if<argument_list>(&a.is)) {
    const c10::Type* const is = type.kind() == TypeKind::OptionalType ? type.containedType(0).get() : &type;
    return is->kind() == TypeKind::ListType && list_suits(*list, *is->containedType(0));
  }
  switch (type.kind()) {
    case TypeKind::OptionalType:
      return is_one_of<std::monostate>(a) || suits(a, *type.containedType(0));
    case TypeKind::TensorType:
      return is_one_of<value_reference>(a) || is_number(a);
    case TypeKind::NumberType:
      return is_number(a) || is_one_of<size_expression>(a);
    case TypeKind::IntType:
    case TypeKind::SymIntType:
      return is_one_of<std::int64_t, size_expression>(a);
    case TypeKind::FloatType:
    case TypeKind::SymFloatType:
      return is_one_of<double>(a);
    case TypeKind::BoolType:
    case TypeKind::SymBoolType:
      return is_one_of<bool>(a);
    case TypeKind::StringType:
      return is_one_of<std::string>(a);
    case TypeKind::ScalarTypeType:
      return is_one_of<value_type>(a);
    case TypeKind::LayoutType:
      return is_one_of<layout_strided>(a);
    case TypeKind::DeviceObjType:
      return is_one_of<device_of_run>(a);
    case TypeKind::MemoryFormatType:
      return is_one_of<memory_order>(a);
    default:
      return false;
  }
}

void check_arguments(const graph_call& call, const c10::FunctionSchema& schema) {
  const auto& wanted = schema.arguments();
  if (wanted.size() != call.arguments.size())
    refuse(fmt::format("{} has {} arguments, here {}", name_of(call), wanted.size(), call.arguments.size()));
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (!suits(call.arguments[i], *wanted[i].real_type()))
      refuse(fmt::format("{}: argument \"{}\" has another form than {}", name_of(call), wanted[i].name(),
                         wanted[i].real_type()->str()));
}

void check_results(const graph_call& call, const c10::FunctionSchema& schema) {
  const auto& made = schema.returns();
  const auto is_tensor = [](const c10::Argument& r) { return r.type()->kind() == TypeKind::TensorType; };
  const bool one_list = made.size() == 1 && made[0].type()->kind() == TypeKind::ListType &&
                        made[0].type()->containedType(0)->kind() == TypeKind::TensorType;
  const bool suit = call.returns_list
                        ? one_list
                        : !made.empty() && made.size() == call.results.size() && std::ranges::all_of(made, is_tensor);
  if (!suit) refuse(fmt::format("{} returns other results than are named", name_of(call)));
}

// -- random numbers and files -----------------------------------------------------------------------------------------

/// An argument that says that no random numbers are drawn.
bool switches_off(const c10::Argument& argument, const graph_argument& given) {
  if (argument.name() == "train" || argument.name() == "training") {
    const auto* const on = std::get_if<bool>(&given.is);
    return on && !*on;
  }
  if (argument.name() != "dropout_p" && argument.name() != "dropout" && argument.name() != "p") return false;
  const auto* const rate = std::get_if<double>(&given.is);
  return rate && *rate == 0;
}

void check_random(const graph_call& call, const c10::OperatorHandle& op) {
  if (!op.hasTag(at::Tag::nondeterministic_seeded)) return;
  const auto& wanted = op.schema().arguments();
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (switches_off(wanted[i], call.arguments[i])) return;
  refuse(fmt::format("{} draws random numbers; only dropout is drawn again alike", name_of(call)));
}

}  // namespace

c10::OperatorHandle operator_of(const graph_call& call) {
  constexpr std::array<std::string_view, 1> of_files{"aten::from_file"};
  const bool allowed = call.op.starts_with("aten::") && std::ranges::find(of_files, call.op) == of_files.end();
  const auto found = allowed ? c10::Dispatcher::singleton().findSchema({call.op, call.overload}) : std::nullopt;
  if (!found) refuse(fmt::format("there is no operation {} in this LibTorch that a graph may call", name_of(call)));
  check_arguments(call, found->schema());
  check_results(call, found->schema());
  check_random(call, *found);
  return *found;
}

// -- Hydra's own ------------------------------------------------------------------------------------------------------

namespace {

struct own_operation {
  std::string_view name;
  std::string_view arguments;  ///< v: a value, f: a float, b: a bool, i: an integer; in capitals, or null
};

constexpr std::array own_operations{own_operation{"hydra::dropout", "vfi"},
                                    own_operation{"hydra::attention", "vvvVfbFbi"},
                                    own_operation{"hydra::batch_norm", "vVVVVff"}};

bool has_form(const graph_argument& a, char form) {
  switch (form) {
    case 'v':
      return is_one_of<value_reference>(a);
    case 'f':
      return is_one_of<double>(a);
    case 'b':
      return is_one_of<bool>(a);
    case 'i':
      return is_one_of<std::int64_t>(a);
    case 'V':
      return is_one_of<value_reference, std::monostate>(a);
    default:
      return is_one_of<double, std::monostate>(a);
  }
}

}  // namespace

void check_own(const graph_call& call) {
  const auto found = std::ranges::find(own_operations, call.op, &own_operation::name);
  if (found == own_operations.end()) refuse(fmt::format("there is no operation {}", name_of(call)));
  const bool suit = std::ranges::equal(call.arguments, found->arguments, has_form) && call.results.size() == 1 &&
                    !call.returns_list && call.overload.empty();
  if (!suit) refuse(fmt::format("{} has other arguments or results", call.op));
  if (call.op == "hydra::batch_norm") return;
  const double rate = std::get<double>(call.arguments[call.op == "hydra::dropout" ? 1 : 4].is);
  if (!(rate > 0 && rate <= 1)) refuse(fmt::format("{} drops a share of {}, not above 0 and at most 1", call.op, rate));
}

// -- writes -----------------------------------------------------------------------------------------------------------

namespace {

/// Whose memory each value of a layer may share: names of inputs, parameters, constants and results.
class shared_memory {
 public:
  explicit shared_memory(const graph_layer& layer) {
    for (const graph_part& p : layer.inputs) keep(p.name);
    for (const graph_parameter& p : layer.parameters) keep(p.is.value);
    for (const graph_tensor& t : layer.constants) keep(t.value);
  }

  void run(const graph_call& call, const std::optional<c10::OperatorHandle>& op) {
    for (std::size_t i = 0; op && i < call.arguments.size(); ++i) check_write(call, i, op->schema());
    for (std::size_t r = 0; r < call.results.size(); ++r)
      if (const auto& name = call.results[r]) make(*name, op ? aliased(call, op->schema(), r) : aliased_by_own(call));
  }

 private:
  using names = std::set<std::string>;

  void keep(const std::string& name) {
    memory_[name] = {name};
    kept_.insert(name);
  }

  void make(const std::string& name, names of) { memory_[name] = of.empty() ? names{name} : std::move(of); }

  /// Of an argument: a value, or a list of such.
  names of_argument(const graph_argument& a) const {
    names all;
    if (const auto* const value = std::get_if<value_reference>(&a.is))
      if (const auto found = memory_.find(value->name); found != memory_.end()) all = found->second;
    if (const auto* const list = std::get_if<argument_list>(&a.is))
      for (const graph_argument& element : *list) all.merge(of_argument(element));
    return all;
  }

  /// Dropout may give the value itself.
  names aliased_by_own(const graph_call& call) const {
    return call.op == "hydra::dropout" ? of_argument(call.arguments.at(0)) : names{};
  }

  void check_write(const graph_call& call, std::size_t i, const c10::FunctionSchema& schema) const {
    const auto* const alias = schema.arguments()[i].alias_info();
    if (!alias || !alias->isWrite()) return;
    for (const std::string& name : of_argument(call.arguments[i]))
      if (kept_.contains(name))
        refuse(fmt::format("{} writes into \"{}\", which is an input, a parameter or a constant", name_of(call),
                           shown(name)));
  }

  names aliased(const graph_call& call, const c10::FunctionSchema& schema, std::size_t result) const {
    const auto* const alias = schema.returns()[call.returns_list ? 0 : result].alias_info();
    names all;
    if (!alias) return all;
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      const auto* const of = schema.arguments()[i].alias_info();
      const auto shares = [&](const auto& set) { return of->beforeSets().contains(set) || of->isWildcardBefore(); };
      if (of && (alias->isWildcardBefore() || std::ranges::any_of(alias->beforeSets(), shares)))
        all.merge(of_argument(call.arguments[i]));
    }
    return all;
  }

  std::map<std::string, names> memory_;
  names kept_;
};

}  // namespace

void check_writes(const graph_layer& layer, const std::vector<std::optional<c10::OperatorHandle>>& operations) {
  shared_memory memory{layer};
  for (std::size_t i = 0; i < layer.calls.size(); ++i) memory.run(layer.calls[i], operations[i]);
}

}  // namespace hydra
