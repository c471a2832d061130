#include "models/layers/linear_map.hpp"

#include "models/dropout.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/addmm_ops.h>
#include <ATen/ops/linalg_vector_norm_ops.h>
#include <ATen/ops/linear_ops.h>
#include <ATen/ops/mm_ops.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace hydra {

namespace {

/// Of W + scale B A.
at::Tensor norms_of_rows(std::span<const at::Tensor> parameters, const low_rank_term& term) {
  const at::NoGradGuard constant;
  const at::Tensor& weight = parameters[term.weight];
  const at::Tensor added = at::_ops::mm::call(parameters[term.b], parameters[term.a]);
  const at::Tensor merged = (term.order == linear_weight::out_in ? weight : weight.t()).add(added, term.scale);
  return at::_ops::linalg_vector_norm::call(merged, 2, std::vector<std::int64_t>{1}, false, {});
}

/// What DoRA scales of W x. As in PEFT x is dropped here, too, where it is for the map of low rank.
at::Tensor scaled_map(const at::Tensor& y, std::span<const at::Tensor> parameters, linear_place place,
                      const at::Tensor& dropped, const low_rank_term& term, bool drops) {
  if (!drops) return place.bias ? y.sub(parameters[*place.bias]) : y;
  const at::Tensor& weight = parameters[term.weight];
  const bool transposed = term.order == linear_weight::in_out;
  return at::_ops::linear::call(dropped, transposed ? weight.t() : weight, {}).view(y.sizes());
}

}  // namespace

at::Tensor add_low_rank(const at::Tensor& y, std::span<const at::Tensor> parameters, linear_place place,
                        const at::Tensor& x, const layer_context& context) {
  const auto term = std::ranges::find(context.low_rank, place.weight, &low_rank_term::weight);
  if (term == context.low_rank.end()) return y;
  const at::Tensor rows = keyed_dropout(x, term->dropout, context, term->site).reshape({-1, x.size(-1)});
  const at::Tensor inner = at::_ops::linear::call(rows, parameters[term->a], {});
  const at::Tensor added = at::_ops::linear::call(inner, parameters[term->b], {}).view(y.sizes());
  if (!term->magnitude) return y.add(added, term->scale);
  const at::Tensor factor = parameters[*term->magnitude].div(norms_of_rows(parameters, *term));
  const at::Tensor map = scaled_map(y, parameters, place, rows, *term, context.training && term->dropout > 0);
  return y.add(map.mul(factor.sub(1))).add(added.mul(factor), term->scale);
}

parameter_spec linear_parameter(std::string name, std::int64_t out, std::int64_t in, initial_value initial,
                                std::string tied_to) {
  return {.name = std::move(name),
          .shape = {out, in},
          .initial = initial,
          .tied_to = std::move(tied_to),
          .linear = linear_weight::out_in};
}

at::Tensor linear_map(std::span<const at::Tensor> parameters, linear_place place, const at::Tensor& x,
                      const layer_context& context) {
  const auto bias = place.bias ? std::optional{parameters[*place.bias]} : std::nullopt;
  return add_low_rank(at::_ops::linear::call(x, parameters[place.weight], bias), parameters, place, x, context);
}

at::Tensor linear_map_in_out(std::span<const at::Tensor> parameters, std::size_t weight, const at::Tensor& x,
                             const layer_context& context) {
  const at::Tensor rows = x.reshape({-1, x.size(-1)});
  const at::Tensor y = at::_ops::addmm::call(parameters[weight + 1], rows, parameters[weight], 1, 1);
  return add_low_rank(y.view({x.size(0), x.size(1), -1}), parameters, {weight, weight + 1}, x, context);
}

}  // namespace hydra
