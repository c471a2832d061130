#pragma once
// graph.json of a small model: an embedding of numbers, a batch norm, dropout and a head, in two layers.

#include <string>

namespace hydra::test {

inline const std::string small_graph = R"({
 "format": "hydra-graph", "version": 1, "torch": "2.11.0+cu130", "precision": "f32", "loss": null,
 "weights": "9cc7a52d27c2180389d7f90234140608658fad86db6f2e2dd346b33534300860", "checked": [4, 5, 1],
 "inputs": [{"name": "x", "type": "f32", "shape": ["B", 2], "strides": [2, 1], "gradient": null},
            {"name": "kept", "type": "bool", "shape": ["B"], "strides": [1], "gradient": null}],
 "output": {"name": "y", "type": "f32", "shape": ["B", 1], "strides": [1, 1], "gradient": [1, 1]},
 "layers": [
  {"name": "body", "signature": "df83819607aab7a5",
   "inputs": [{"name": "x", "type": "f32", "shape": ["B", 2], "strides": [2, 1], "gradient": null},
              {"name": "kept", "type": "bool", "shape": ["B"], "strides": [1], "gradient": null}],
   "outputs": [{"name": "h", "type": "f32", "shape": ["B", 3], "strides": [1, "B"], "gradient": [1, "B"]},
               {"name": "kept", "type": "bool", "shape": ["B"], "strides": [1], "gradient": null}],
   "parameters": [
    {"value": "p:w", "name": "w", "type": "f32", "shape": [3, 2], "strides": [2, 1], "trained": true},
    {"value": "p:mean", "name": "mean", "type": "f32", "shape": [3], "strides": [1], "trained": false, "averaging": 0.25},
    {"value": "p:var", "name": "var", "type": "f32", "shape": [3], "strides": [1], "trained": false, "averaging": 0.25}],
   "constants": [{"value": "c:shift", "name": "shift", "type": "f32", "shape": [3], "strides": [1]}],
   "calls": [
    {"op": "aten::linear", "overload": "", "args": [{"v": "x"}, {"v": "p:w"}, null], "out": ["linear"]},
    {"op": "hydra::batch_norm", "overload": "", "args": [{"v": "linear"}, null, null, {"v": "p:mean"}, {"v": "p:var"},
     {"f": 0.25}, {"f": 1e-5}], "out": ["normed"]},
    {"op": "aten::add", "overload": "Tensor", "args": [{"v": "normed"}, {"v": "c:shift"}, {"i": 1}], "out": ["shifted"]},
    {"op": "aten::relu_", "overload": "", "args": [{"v": "shifted"}], "out": ["positive"]},
    {"op": "aten::t", "overload": "", "args": [{"v": "positive"}], "out": ["turned"]},
    {"op": "aten::clone", "overload": "", "args": [{"v": "turned"}, {"mf": "contiguous_format"}], "out": ["copied"]},
    {"op": "aten::t", "overload": "", "args": [{"v": "copied"}], "out": ["h"]}]},
  {"name": "head", "signature": "70c1729d98964ac0",
   "inputs": [{"name": "h", "type": "f32", "shape": ["B", 3], "strides": [1, "B"], "gradient": [1, "B"]},
              {"name": "kept", "type": "bool", "shape": ["B"], "strides": [1], "gradient": null}],
   "outputs": [{"name": "y", "type": "f32", "shape": ["B", 1], "strides": [1, 1], "gradient": [1, 1]}],
   "parameters": [{"value": "p:v", "name": "v", "type": "f32", "shape": [1, 3], "strides": [3, 1], "trained": true}],
   "constants": [],
   "calls": [
    {"op": "hydra::dropout", "overload": "", "args": [{"v": "h"}, {"f": 0.5}, {"i": 0}], "out": ["dropped"]},
    {"op": "aten::split", "overload": "Tensor", "args": [{"v": "dropped"}, {"e": ["+", ["//", "B", 2], 1]}, {"i": 0}],
     "out": ["front", null], "list": true},
    {"op": "aten::full_like", "overload": "", "args": [{"v": "dropped"}, {"f": "inf"}, {"dt": "f32"}, {"lay": "strided"},
     {"dev": true}, null, null], "out": ["far"], "grad": false},
    {"op": "aten::minimum", "overload": "", "args": [{"v": "dropped"}, {"v": "far"}], "out": ["bounded"]},
    {"op": "aten::linear", "overload": "", "args": [{"v": "bounded"}, {"v": "p:v"}, null], "out": ["scores"]},
    {"op": "aten::unsqueeze", "overload": "", "args": [{"v": "kept"}, {"i": 1}], "out": ["column"]},
    {"op": "aten::mul", "overload": "Tensor", "args": [{"v": "scores"}, {"v": "column"}], "out": ["y"]}]}],
 "names": {"w": ["w"], "mean": ["mean"], "var": ["var"], "v": ["v", "head.v"]}
})";

/// With one part replaced, which it must have.
inline std::string bent_graph(const std::string& part, const std::string& by) {
  std::string text = small_graph;
  return text.replace(text.find(part), part.size(), by);
}

}  // namespace hydra::test
