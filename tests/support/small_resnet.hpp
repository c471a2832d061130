#pragma once
// A small ResNet: the family with running averages.

#include "models/data/data_catalog.hpp"
#include "models/families/resnet/resnet.hpp"
#include "tests/support/small_models.hpp"

namespace hydra::test {

/// Over images [2, 16, 16] and 3 classes.
inline small_model small_resnet(const resnet_options& options) {
  auto data =
      open_data({synthetic_classes{.shape = {2, 16, 16}, .classes = 3, .samples = 64, .validation_samples = 0}}, 0);
  auto body = std::make_shared<const chain>(resnet(options).build(*data));
  return {data, std::move(body)};
}

}  // namespace hydra::test
