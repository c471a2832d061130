#pragma once
// Linear maps of layers, to which an adapter may add a map of low rank.

#include "models/layer.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace hydra {

/// Indices in a layer's parameters.
struct linear_place {
  std::size_t weight = 0;
  std::optional<std::size_t> bias{};
};

/// The weight [out, in] of a linear map.
parameter_spec linear_parameter(std::string name, std::int64_t out, std::int64_t in, initial_value initial,
                                std::string tied_to = {});

/// x W^T (+ b) over the last dimension, W [out, in], with what the context adds to that weight. The weight is
/// one of linear_parameter().
at::Tensor linear_map(std::span<const at::Tensor> parameters, linear_place place, const at::Tensor& x,
                      const layer_context& context);

/// x W + b over the last dimension of [samples, tokens, in], W [in, out], the bias after the weight, with what the
/// context adds to that weight. The layer's parameters() mark it linear_weight::in_out.
at::Tensor linear_map_in_out(std::span<const at::Tensor> parameters, std::size_t weight, const at::Tensor& x,
                             const layer_context& context);

/// y with what a low_rank_term adds to that weight (Hu et al. 2021, section 4.1), if an adapter has one: x is what the
/// linear map was applied to, y its result, with the bias.
at::Tensor add_low_rank(const at::Tensor& y, std::span<const at::Tensor> parameters, linear_place place,
                        const at::Tensor& x, const layer_context& context);

}  // namespace hydra
