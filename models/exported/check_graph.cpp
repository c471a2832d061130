#include "models/exported/check_graph.hpp"

#include "models/exported/boundary_layout.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace hydra {

namespace {

template <class... Args>
[[noreturn]] void refuse_in(const std::string& place, fmt::format_string<Args...> why, Args&&... args) {
  refuse(fmt::format("{}: {}", place, fmt::format(why, std::forward<Args>(args)...)));
}

std::string place_of(const exported_graph& g, std::size_t layer) {
  return fmt::format("layers[{}] ({})", layer, g.layers[layer].name);
}

// -- values of a layer ------------------------------------------------------------------------------------------------

/// The values that are there before a call.
class known_values {
 public:
  explicit known_values(std::string place) : place_{std::move(place)} {}

  void make(const std::string& name) {
    if (!names_.insert(name).second) refuse_in(place_, "the value \"{}\" is made twice", name);
  }
  void read(const std::string& name) const {
    if (!names_.contains(name)) refuse_in(place_, "there is no value \"{}\" at this place", name);
  }

 private:
  std::string place_;
  std::set<std::string> names_;
};

void check_values(const exported_graph& g, std::size_t layer) {
  const graph_layer& l = g.layers[layer];
  known_values values{place_of(g, layer)};
  for (const graph_part& p : l.inputs) values.make(p.name);
  for (const graph_parameter& p : l.parameters) values.make(p.is.value);
  for (const graph_tensor& t : l.constants) values.make(t.value);
  for (const graph_call& call : l.calls) {
    for (const graph_argument& argument : call.arguments)
      for (const std::string& name : values_in(argument)) values.read(name);
    for (const auto& result : call.results)
      if (result) values.make(*result);
  }
  for (const graph_part& p : l.outputs) values.read(p.name);
  if (l.outputs.empty()) refuse_in(place_of(g, layer), "it has no outputs");
}

void check_neighbours(const exported_graph& g) {
  for (std::size_t i = 0; i < g.layers.size(); ++i)
    if (g.layers[i].inputs != (i == 0 ? g.inputs : g.layers[i - 1].outputs))
      refuse_in(place_of(g, i), "its inputs are not {}",
                i == 0 ? "those of the model" : "the outputs of the layer before");
  if (g.layers.back().outputs != std::vector{g.output})
    refuse_in(place_of(g, g.layers.size() - 1), "its output is not the output of the model");
}

// -- parameters -------------------------------------------------------------------------------------------------------

bool are_alike(const graph_parameter& a, const graph_parameter& b) {
  return a.is.type == b.is.type && a.is.shape == b.is.shape && a.is.strides == b.is.strides && a.trained == b.trained;
}

value_type type_of(precision numbers) { return numbers == precision::bf16 ? value_type::bf16 : value_type::f32; }

/// Without the dimensions of size 1, each stride is the product of the sizes of those with smaller strides. True for a
/// shape that has no elements. Shape and strides are equally long.
bool is_dense(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& strides) {
  if (std::ranges::any_of(strides, [](std::int64_t s) { return s < 0; })) return false;
  if (std::ranges::find(shape, 0) != shape.end()) return true;
  std::vector<std::size_t> wide;  // dimensions, the one of the smallest stride first
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (shape[d] != 1) wide.push_back(d);
  std::ranges::sort(wide, {}, [&](std::size_t d) { return strides[d]; });
  std::int64_t elements = 1;
  for (const std::size_t d : wide) {
    if (strides[d] != elements || __builtin_mul_overflow(elements, shape[d], &elements)) return false;
  }
  return true;
}

void check_tensor(const std::string& place, const graph_tensor& t) {
  if (std::ranges::any_of(t.shape, [](std::int64_t size) { return size < 0; }) || !is_dense(t.shape, t.strides))
    refuse_in(place, "\"{}\" has a size below 0, or strides with gaps", t.name);
}

void check_tie(const std::string& place, const graph_parameter& p,
               const std::map<std::string, const graph_parameter*>& earlier) {
  const auto owner = earlier.find(p.tied_to);
  if (owner == earlier.end() || !owner->second->tied_to.empty() || !are_alike(*owner->second, p))
    refuse_in(place, "\"{}\" is tied to \"{}\", which is not a parameter of an earlier layer that it could be",
              p.is.name, p.tied_to);
}

void check_parameters(const exported_graph& g) {
  std::map<std::string, const graph_parameter*> earlier;
  for (std::size_t i = 0; i < g.layers.size(); ++i) {
    const std::string place = place_of(g, i);
    for (const graph_tensor& t : g.layers[i].constants) check_tensor(place, t);
    for (const graph_parameter& p : g.layers[i].parameters) {
      check_tensor(place, p.is);
      if (p.is.type != type_of(g.numbers)) refuse_in(place, "\"{}\" is not of the model's precision", p.is.name);
      if (!p.tied_to.empty()) check_tie(place, p, earlier);
      if (earlier.contains(p.is.name)) refuse_in(place, "there are two parameters \"{}\"", p.is.name);
    }
    for (const graph_parameter& p : g.layers[i].parameters) earlier.emplace(p.is.name, &p);
  }
}

// -- Hydra's operations -----------------------------------------------------------------------------------------------

template <class Form>
const Form* form_of(const graph_call& call, std::size_t argument) {
  return argument < call.arguments.size() ? std::get_if<Form>(&call.arguments[argument].is) : nullptr;
}

/// Each statistic belongs to one batch norm, whose momentum is that of the average.
void check_statistics(const exported_graph& g, std::size_t layer) {
  std::map<std::string, double> averages;  // by value
  for (const graph_parameter& p : g.layers[layer].parameters)
    if (p.averaging > 0) averages[p.is.value] = p.averaging;
  for (const graph_call& call : g.layers[layer].calls) {
    if (call.op != "hydra::batch_norm") continue;
    for (const std::size_t argument : {3u, 4u}) {
      const auto* const value = form_of<value_reference>(call, argument);
      const auto* const momentum = form_of<double>(call, 5);
      if (!value) continue;
      const auto average = averages.find(value->name);
      if (average == averages.end() || !momentum || *momentum != average->second)
        refuse_in(place_of(g, layer), "\"{}\" is not a statistic of a batch norm of that momentum", value->name);
      averages.erase(average);
    }
  }
  if (!averages.empty())
    refuse_in(place_of(g, layer), "\"{}\" is a statistic of no batch norm", averages.begin()->first);
}

/// Keys of dropout.
void check_sites(const exported_graph& g) {
  std::set<std::int64_t> sites;
  for (std::size_t i = 0; i < g.layers.size(); ++i)
    for (const graph_call& call : g.layers[i].calls) {
      if (call.op != "hydra::dropout" && call.op != "hydra::attention") continue;
      const auto* const site = form_of<std::int64_t>(call, call.op == "hydra::dropout" ? 2 : 8);
      if (!site || *site < 0 || *site > std::int64_t{0xffffffff} || !sites.insert(*site).second)
        refuse_in(place_of(g, i), "{} has no site of its own, an integer from 0 to 2^32 - 1", call.op);
    }
}

// -- sizes ------------------------------------------------------------------------------------------------------------

void check_part(const std::string& place, const graph_part& p, std::int64_t samples) {
  const std::vector<std::int64_t> shape = evaluate(p.shape, samples);
  const auto dense = [&](const std::vector<size_expression>& strides) {
    return is_dense(shape, evaluate(strides, samples));
  };
  if (!dense(p.strides) || (p.gradient && !dense(*p.gradient)))
    refuse_in(place, "the strides of \"{}\", or of its gradient, have gaps for {} samples", p.name, samples);
}

void check_parts(const std::string& place, const std::vector<graph_part>& parts, std::int64_t samples) try {
  lay_out(parts, samples);
  for (const graph_part& p : parts) check_part(place, p, samples);
} catch (const fault_error& e) {
  const std::string& why = e.what_happened().text;
  refuse(why.starts_with(place) ? why : fmt::format("{}: {}", place, why));
}

}  // namespace

void check_graph(const exported_graph& g) {
  check_neighbours(g);
  for (std::size_t i = 0; i < g.layers.size(); ++i) {
    check_values(g, i);
    check_statistics(g, i);
  }
  check_parameters(g);
  check_sites(g);
  check_sizes(g, 1);
}

void check_sizes(const exported_graph& g, std::int64_t samples) {
  check_parts("inputs", g.inputs, samples);
  for (std::size_t i = 0; i < g.layers.size(); ++i) check_parts(place_of(g, i), g.layers[i].outputs, samples);
}

}  // namespace hydra
