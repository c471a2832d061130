#include "models/layers/vit_embedding.hpp"

#include "models/dropout.hpp"
#include "models/layers/checks.hpp"
#include "runtime/base/refuse.hpp"

#include <ATen/core/IListRef.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/cat_ops.h>
#include <ATen/ops/linear_ops.h>
#include <fmt/format.h>

#include <array>

namespace hydra {
namespace {

enum parameter : std::size_t { class_token, positions, projection, projection_bias };

}  // namespace

vit_embedding::vit_embedding(const vit_embedding_options& options) : options_(options) {
  require_positive("vit embedding: channels", options.channels);
  require_positive("vit embedding: height", options.height);
  require_positive("vit embedding: width", options.width);
  require_positive("vit embedding: patch", options.patch);
  require_positive("vit embedding: features", options.features);
  require_dropout("vit embedding: dropout", options.dropout);
  if (options.height % options.patch != 0 || options.width % options.patch != 0)
    refuse(fmt::format("vit embedding: patches of {} pixels do not tile images {} x {}", options.patch, options.height,
                       options.width));
}

std::vector<parameter_spec> vit_embedding::parameters() const {
  const initial_value normal{initial_value::kind::normal, 0.02};
  const std::int64_t f = options_.features, p = options_.patch;
  return {{"cls_token", {1, 1, f}, normal, {}},
          {"position_embeddings", {1, 1 + options_.patches(), f}, normal, {}},
          {"patch_embeddings.projection.weight", {f, options_.channels, p, p}, normal, {}},
          {"patch_embeddings.projection.bias", {f}, {}, {}}};
}

tensor_spec vit_embedding::output(const tensor_spec& input) const {
  require_images("vit embedding", input, options_.channels);
  if (input.shape[2] != options_.height || input.shape[3] != options_.width)
    refuse(fmt::format("vit embedding gets {}; it wants images of {} x {} pixels", to_string(input), options_.height,
                       options_.width));
  return {{input.shape[0], 1 + options_.patches(), options_.features}, element::f32};
}

/// [samples, patches, channels * patch * patch].
at::Tensor vit_embedding::patches_of(const at::Tensor& images) const {
  const std::int64_t samples = images.size(0), p = options_.patch;
  const at::Tensor tiles =
      images.view({samples, options_.channels, options_.height / p, p, options_.width / p, p});
  return tiles.permute({0, 2, 4, 1, 3, 5}).reshape({samples, options_.patches(), options_.channels * p * p});
}

at::Tensor vit_embedding::forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                                  const layer_context& context) const {
  const at::Tensor weight = parameters[projection].view({options_.features, -1});
  const at::Tensor patches = at::_ops::linear::call(patches_of(input), weight, parameters[projection_bias]);
  const std::array tokens{parameters[class_token].expand({input.size(0), 1, options_.features}), patches};
  const at::Tensor placed = at::_ops::cat::call(at::TensorList{tokens}, 1).add(parameters[positions]);
  return keyed_dropout(placed, options_.dropout, context, 0);
}

std::string vit_embedding::signature() const {
  return fmt::format("vit embedding channels={} height={} width={} patch={} features={} dropout={}", options_.channels,
                     options_.height, options_.width, options_.patch, options_.features, options_.dropout);
}

}  // namespace hydra
