#include "models/exported/read_graph.hpp"

#include "models/exported/json_node.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <limits>
#include <utility>

namespace hydra {

namespace {

constexpr int deepest_size = 64;

template <class Value, std::size_t N>
Value named(const json_node& node, const std::array<std::pair<const char*, Value>, N>& names, const char* what) {
  const std::string text = node.text();
  for (const auto& [name, value] : names)
    if (text == name) return value;
  node.refuse(fmt::format("\"{}\" is not {}", shown(text), what));
}

template <class Read>
auto list_of(const json_node& node, const Read& read) {
  std::vector<decltype(read(node))> all;
  for (std::size_t i = 0; i < node.size(); ++i) all.push_back(read(node.at(i)));
  return all;
}

/// Of a value, a tensor or a layer: messages have it as it is.
std::string printable_name(const json_node& node) {
  constexpr std::size_t longest = 1000;
  std::string name = node.text();
  if (name.size() > longest || !is_printable(name))
    node.refuse(
        fmt::format("\"{}\" is not a name: at most {} bytes, without control characters", shown(name), longest));
  return name;
}

std::int64_t integer_of(const json_node& node) { return node.integer(); }

// -- sizes and types --------------------------------------------------------------------------------------------------

using size_kind = size_expression::kind;

size_kind operation_of(const json_node& node) {
  static constexpr std::array names{std::pair{"+", size_kind::add},        std::pair{"*", size_kind::multiply},
                                    std::pair{"//", size_kind::divide},    std::pair{"%", size_kind::remainder},
                                    std::pair{"max", size_kind::largest},  std::pair{"min", size_kind::smallest},
                                    std::pair{"size", size_kind::of_value}};
  return named(node, names, "an operation on sizes");
}

size_expression size_of(const json_node& node, int depth = 0) {
  if (depth > deepest_size) node.refuse("sizes are nested too deeply");
  if (node.is_integer()) return {.number = node.integer()};
  if (node.is_text()) {
    if (node.text() != "B") node.refuse("is not a size: only \"B\" is");
    return {.what = size_kind::samples};
  }
  if (!node.is_list() || node.size() != 3) node.refuse("is not a size: an integer, \"B\" or [operation, size, size]");
  const size_kind what = operation_of(node.at(0));
  if (what == size_kind::of_value)
    return {.what = what, .number = node.at(2).integer(), .value = printable_name(node.at(1))};
  return {.what = what, .operands = {size_of(node.at(1), depth + 1), size_of(node.at(2), depth + 1)}};
}

std::vector<size_expression> sizes_of(const json_node& node) {
  return list_of(node, [](const json_node& n) {
    size_expression size = size_of(n);
    if (depends_on_data(size)) n.refuse("a boundary cannot have a size that depends on data");
    return size;
  });
}

value_type type_of(const json_node& node) {
  using enum value_type;
  static constexpr std::array names{std::pair{"f32", f32},     std::pair{"f64", f64}, std::pair{"bf16", bf16},
                                    std::pair{"f16", f16},     std::pair{"i64", i64}, std::pair{"i32", i32},
                                    std::pair{"i16", i16},     std::pair{"i8", i8},   std::pair{"u8", u8},
                                    std::pair{"bool", boolean}};
  return named(node, names, "a type");
}

// -- layers -----------------------------------------------------------------------------------------------------------

graph_part part_of(const json_node& node) {
  node.allow({"name", "type", "shape", "strides", "gradient"});
  graph_part p{.name = printable_name(node.member("name")),
               .type = type_of(node.member("type")),
               .shape = sizes_of(node.member("shape")),
               .strides = sizes_of(node.member("strides")),
               .gradient = {}};
  const auto one_for_each = [&](const json_node& strides, std::size_t n) {
    if (n != p.shape.size())
      strides.refuse(fmt::format("has {} strides, and the shape {} dimensions", n, p.shape.size()));
  };
  one_for_each(node.member("strides"), p.strides.size());
  const json_node gradient = node.member("gradient");
  if (gradient.is_null()) return p;
  p.gradient = sizes_of(gradient);
  one_for_each(gradient, p.gradient->size());
  if (p.type != value_type::f32 && p.type != value_type::bf16)
    gradient.refuse(fmt::format("values of type {} have no gradient", to_string(p.type)));
  return p;
}

std::vector<graph_part> parts_of(const json_node& node) { return list_of(node, part_of); }

graph_tensor tensor_of(const json_node& node) {
  graph_tensor t{.value = printable_name(node.member("value")),
                 .name = printable_name(node.member("name")),
                 .type = type_of(node.member("type")),
                 .shape = list_of(node.member("shape"), integer_of),
                 .strides = list_of(node.member("strides"), integer_of)};
  if (t.strides.size() != t.shape.size())
    node.refuse(fmt::format("{} strides for {} dimensions", t.strides.size(), t.shape.size()));
  return t;
}

graph_parameter parameter_of(const json_node& node) {
  node.allow({"value", "name", "type", "shape", "strides", "trained", "tied_to", "averaging"});
  graph_parameter p{.is = tensor_of(node), .trained = node.member("trained").boolean()};
  if (node.has("tied_to")) p.tied_to = printable_name(node.member("tied_to"));
  if (node.has("averaging")) {
    p.averaging = node.member("averaging").real();
    if (!(p.averaging > 0 && p.averaging < 1) || p.trained)
      node.refuse("averaging is between 0 and 1, of a parameter that is not trained");
  }
  return p;
}

graph_tensor constant_of(const json_node& node) {
  node.allow({"value", "name", "type", "shape", "strides"});
  return tensor_of(node);
}

// -- calls ------------------------------------------------------------------------------------------------------------

double real_of(const json_node& node) {
  if (!node.is_text()) return node.real();
  constexpr double infinite = std::numeric_limits<double>::infinity();
  static constexpr std::array names{std::pair{"inf", infinite}, std::pair{"-inf", -infinite},
                                    std::pair{"nan", std::numeric_limits<double>::quiet_NaN()}};
  return named(node, names, "a number");
}

memory_order order_of(const json_node& node) {
  static constexpr std::array names{std::pair{"contiguous_format", memory_order::contiguous},
                                    std::pair{"preserve_format", memory_order::preserve},
                                    std::pair{"channels_last", memory_order::channels_last},
                                    std::pair{"channels_last_3d", memory_order::channels_last_3d}};
  return named(node, names, "a memory format");
}

graph_argument argument_of(const json_node& node);

graph_argument single_argument_of(const json_node& node) {
  const std::string form = node.only_member();
  const json_node is = node.member(form.c_str());
  if (form == "v") return {value_reference{printable_name(is)}};
  if (form == "i") return {is.integer()};
  if (form == "f") return {real_of(is)};
  if (form == "b") return {is.boolean()};
  if (form == "e") return {size_of(is)};
  if (form == "s") return {is.text()};
  if (form == "dt") return {type_of(is)};
  if (form == "mf") return {order_of(is)};
  if (form == "dev" && is.boolean()) return {device_of_run{}};
  if (form == "lay" && is.text() == "strided") return {layout_strided{}};
  node.refuse(fmt::format("\"{}\" is not a form of an argument", shown(form)));
}

graph_argument argument_of(const json_node& node) {
  if (node.is_null()) return {};
  if (!node.is_list()) return single_argument_of(node);
  return {list_of(node, [](const json_node& element) {
    if (element.is_list()) element.refuse("lists of lists are not arguments");
    return argument_of(element);
  })};
}

graph_call call_of(const json_node& unnamed) {
  const std::string op = printable_name(unnamed.member("op"));
  const json_node node = unnamed.called(op);
  node.allow({"op", "overload", "args", "out", "list", "grad"});
  const auto result = [](const json_node& n) { return n.is_null() ? std::nullopt : std::optional{printable_name(n)}; };
  return {.op = op,
          .overload = printable_name(node.member("overload")),
          .arguments = list_of(node.member("args"), argument_of),
          .results = list_of(node.member("out"), result),
          .returns_list = node.has("list") && node.member("list").boolean(),
          .has_gradient = !node.has("grad") || node.member("grad").boolean()};
}

graph_layer layer_of(const json_node& unnamed) {
  const std::string name = printable_name(unnamed.member("name"));
  const json_node node = unnamed.called(name);
  node.allow({"name", "signature", "inputs", "outputs", "parameters", "constants", "calls"});
  return {.name = name,
          .signature = node.member("signature").text(),
          .inputs = parts_of(node.member("inputs")),
          .outputs = parts_of(node.member("outputs")),
          .parameters = list_of(node.member("parameters"), parameter_of),
          .constants = list_of(node.member("constants"), constant_of),
          .calls = list_of(node.member("calls"), call_of)};
}

// -- the file ---------------------------------------------------------------------------------------------------------

nlohmann::json parsed(std::string_view text) {
  try {
    return parse_json_strictly(text);
  } catch (const nlohmann::json::exception& e) {
    refuse("it is not JSON: " + json_complaint(e));
  }
}

void check_version(const json_node& top) {
  if (top.member("format").text() != "hydra-graph") top.member("format").refuse("is not \"hydra-graph\"");
  if (const auto version = top.member("version").integer(); version != 1)
    top.member("version").refuse(fmt::format("is {}; this Hydra reads 1", version));
}

precision precision_of(const json_node& node) {
  static constexpr std::array names{std::pair{"f32", precision::fp32}, std::pair{"bf16", precision::bf16}};
  return named(node, names, "a precision");
}

graph_loss loss_of(const json_node& node) {
  if (node.is_null()) return graph_loss::none;
  static constexpr std::array names{std::pair{"mean", graph_loss::mean}, std::pair{"sum", graph_loss::sum}};
  return named(node, names, "a loss");
}

std::string digest_of(const json_node& node) {
  std::string digest = node.text();
  if (digest.size() != 64 || digest.find_first_not_of("0123456789abcdef") != digest.npos)
    node.refuse("is not a SHA-256 of 64 lower-case hexadecimal digits");
  return digest;
}

std::map<std::string, std::vector<std::string>> names_of(const json_node& node) {
  node.has("");  // an object
  std::map<std::string, std::vector<std::string>> all;
  for (const auto& [tensor, names] : node.json().items())
    all[tensor] = list_of(json_node{names, "names: " + shown(tensor)}, printable_name);
  return all;
}

}  // namespace

exported_graph read_graph(std::string_view text) {
  const nlohmann::json json = parsed(text);
  const json_node top{json, ""};
  check_version(top);
  exported_graph g{.torch = top.member("torch").text(),
                   .numbers = precision_of(top.member("precision")),
                   .loss = loss_of(top.member("loss")),
                   .weights = digest_of(top.member("weights")),
                   .checked = list_of(top.member("checked"), integer_of),
                   .inputs = parts_of(top.member("inputs")),
                   .output = part_of(top.member("output")),
                   .layers = list_of(top.member("layers"), layer_of),
                   .names = names_of(top.member("names"))};
  if (g.layers.empty()) top.member("layers").refuse("there is none");
  return g;
}

}  // namespace hydra
