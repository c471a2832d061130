#include "models/optimizer/rounded_gradient.hpp"

#include "models/optimizer/bf16.hpp"
#include "models/optimizer/gradient_clip.hpp"

#include <algorithm>

namespace hydra {

void rounded_gradient::widen(std::size_t begin, std::span<float> to) const {
  from_bf16(sums.front().subspan(begin, to.size()), to);
  for (const auto& sum : std::span(sums).subspan(1)) add_bf16(sum.subspan(begin, to.size()), to);
}

float gradient_norm(const rounded_gradient& gradient) {
  std::vector<float> piece, norms;
  for (std::size_t begin = 0; begin < gradient.size(); begin += widened_at_once) {
    piece.resize(std::min(widened_at_once, gradient.size() - begin));
    gradient.widen(begin, piece);
    norms.push_back(gradient_norm(piece));
  }
  return norms.size() == 1 ? norms.front() : total_norm(norms);
}

}  // namespace hydra
