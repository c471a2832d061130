#include "models/layer.hpp"

#include "runtime/base/refuse.hpp"

#include <ATen/core/Tensor.h>
#include <fmt/format.h>

#include <functional>
#include <numeric>

namespace hydra {

std::int64_t parameter_spec::elements() const noexcept {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>{});
}

at::Tensor layer::decode(std::span<const at::Tensor>, const at::Tensor&, const layer_context&, decode_memory&) const {
  refuse(fmt::format("\"{}\" is not a layer of a model that writes text token by token", signature()));
}

std::vector<chain_part> layer::in_pieces(const division&) const { return {}; }

}  // namespace hydra
