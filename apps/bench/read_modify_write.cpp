#include "apps/bench/read_modify_write.hpp"

#include "models/optimizer/vector_clones.hpp"

namespace hydra::apps {
namespace {

HYDRA_VECTOR_CLONES void change(std::size_t n, float* __restrict p, const float* __restrict g, float* __restrict m,
                                float* __restrict v) {
  for (std::size_t i = 0; i < n; ++i) {
    m[i] = m[i] + g[i];
    v[i] = v[i] + g[i];
    p[i] = p[i] + g[i];
  }
}

}  // namespace

void read_modify_write(std::size_t n, float* parameters, const float* gradients, float* first, float* second) {
  change(n, parameters, gradients, first, second);
}

}  // namespace hydra::apps
