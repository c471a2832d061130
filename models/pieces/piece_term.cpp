#include "models/pieces/piece_term.hpp"

namespace hydra {

at::Tensor piece_term::behind_sum(const at::Tensor& known) const {
  const std::int64_t n = columns().following(known.size(-1));
  if (n == 0) return {};
  const at::Tensor behind = known.narrow(-1, columns().used, n);
  return passes_gradient() ? behind : behind.detach();
}

}  // namespace hydra
