#include "models/layer.hpp"

#include <functional>
#include <numeric>

namespace hydra {

std::int64_t parameter_spec::elements() const noexcept {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>{});
}

}  // namespace hydra
