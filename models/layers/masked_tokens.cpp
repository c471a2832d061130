#include "models/layers/masked_tokens.hpp"

#include "models/layers/checks.hpp"

#include <ATen/core/IListRef.h>
#include <ATen/ops/cat_ops.h>

#include <array>

namespace hydra {

masked_tokens split_mask(const at::Tensor& input) {
  const std::int64_t width = input.size(2) - 1;
  return {input.narrow(2, 0, width).contiguous(), input.detach().select(2, width)};
}

at::Tensor join_mask(const masked_tokens& tokens) {
  const std::array parts{tokens.vectors, tokens.mask.unsqueeze(2)};
  return at::_ops::cat::call(at::TensorList{parts}, 2);
}

void require_masked_tokens(std::string_view who, const tensor_spec& input, std::int64_t width) {
  require_input(who, input, element::f32, 3, width + 1);
}

}  // namespace hydra
