#pragma once
// Arguments and results of operators, with each tensor replaced by another one.

#include "tests/support/gpu_double/launch.hpp"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <optional>

namespace gpu_double {

using torch::jit::Stack;

template <class F>
c10::IValue with_tensors(const c10::IValue& v, const F& f) {
  if (v.isTensor()) return f(v.toTensor());
  if (v.isTensorList()) {
    c10::List<at::Tensor> all;
    for (const at::Tensor& t : v.toTensorVector()) all.push_back(f(t));
    return all;
  }
  if (v.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> all;
    for (const auto& t : v.toOptionalTensorVector()) all.push_back(t ? std::optional(f(*t)) : std::nullopt);
    return all;
  }
  return v;
}

/// All arguments of an operator, for one on another device.
template <class F>
Stack with_tensors(const Stack& all, at::Device where, const F& f) {
  Stack made;
  for (const auto& v : all) {
    made.push_back(v.isDevice() ? c10::IValue(where) : v.isGenerator() ? c10::IValue() : with_tensors(v, f));
  }
  return made;
}

template <class F>
void for_each_tensor(const c10::IValue& v, const F& f) {
  with_tensors(v, [&](const at::Tensor& t) {
    if (t.defined()) f(t);
    return t;
  });
}

/// An operator's kernel for tensors that are not on the GPU; replaces its arguments by its results.
void run_elsewhere(const c10::OperatorHandle& op, Stack& stack);

/// Results of the right shapes: on the key Meta, or computed of zeros. Not modelled: shapes that depend on values.
Stack infer(const c10::OperatorHandle& op, const Stack& arguments);

}  // namespace gpu_double
