#pragma once
// The arithmetic of update rules on one element: the same operations in the same order on the host and in kernels of a
// device, so that it does not matter where a shard is stepped. No contraction: fused multiply-adds are written
// explicitly.

#include "runtime/device/kernels/host_device.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace hydra {

/// Constants of one AdamW step, in double and then cast once, as at::_fused_adamw_ does.
struct adamw_constants {
  float clip, ob1, ob2, b2, decay, step, sbc2, eps;
};

struct sgd_constants {
  float clip, decay, rate, momentum;
};

struct lion_constants {
  float clip, b1, ob1, b2, ob2, decay, step;
};

/// Of AdamW with moments in 8 bits, which is stepped on the host only (models/optimizer/blockwise_update.hpp).
struct blockwise_constants {
  float clip, b1, ob1, b2, ob2, decay, step, eps;
};

/// Of whole matrices, which are stepped on the host only (models/optimizer/muon_update.hpp). `complement`: 1 -
/// momentum.
struct muon_constants {
  float clip, complement, decay;
  double rate;  ///< before it is adjusted to the matrix
  bool nesterov, match_rms;
};

/// Of whole parameters, too (models/optimizer/adafactor_update.hpp). `kept` and `complement`: shares of the old and the
/// new second moment; `threshold`: largest root mean square of a step before it is multiplied by the rate.
struct adafactor_constants {
  float clip, kept, complement, eps, threshold, decay, rate;
};

/// The loop of a rule: over elements, or over blocks or whole parameters on the host.
enum class update_loop : std::uint8_t { adamw, plain_sgd, momentum_sgd, lion, blockwise_adamw, muon, adafactor };

/// True if each element is stepped on its own.
constexpr bool is_elementwise(update_loop rule) noexcept { return rule < update_loop::blockwise_adamw; }

/// True if a step needs all of a parameter.
constexpr bool steps_whole(update_loop rule) noexcept { return rule > update_loop::blockwise_adamw; }

/// Number of fp32 moments per element.
constexpr int moments_of(update_loop rule) noexcept {
  if (rule == update_loop::adamw) return 2;
  return rule == update_loop::momentum_sgd || rule == update_loop::lion || rule == update_loop::muon ? 1 : 0;
}

/// The constants of one step of any rule.
struct update_constants {
  update_loop rule = update_loop::adamw;
  bool first_step = false;
  bool nesterov = false;
  adamw_constants adamw{};
  sgd_constants sgd{};
  lion_constants lion{};
  // Not passed on to devices:
  blockwise_constants blockwise{};
  muon_constants muon{};
  adafactor_constants adafactor{};
};

/// The same as a list, which LibTorch's dispatcher can pass; doubles hold floats exactly.
using update_numbers = std::array<double, 22>;

inline update_numbers numbers_of(const update_constants& c) {
  const auto& a = c.adamw;
  const auto& s = c.sgd;
  const auto& l = c.lion;
  return {static_cast<double>(c.rule),
          c.first_step ? 1.0 : 0.0,
          c.nesterov ? 1.0 : 0.0,
          a.clip,
          a.ob1,
          a.ob2,
          a.b2,
          a.decay,
          a.step,
          a.sbc2,
          a.eps,
          s.clip,
          s.decay,
          s.rate,
          s.momentum,
          l.clip,
          l.b1,
          l.ob1,
          l.b2,
          l.ob2,
          l.decay,
          l.step};
}

/// `n`: the result of numbers_of().
inline update_constants constants_from(const double* n) {
  const auto at = [n](int i) { return static_cast<float>(n[i]); };
  return {.rule = static_cast<update_loop>(static_cast<int>(n[0])),
          .first_step = n[1] != 0,
          .nesterov = n[2] != 0,
          .adamw = {at(3), at(4), at(5), at(6), at(7), at(8), at(9), at(10)},
          .sgd = {at(11), at(12), at(13), at(14)},
          .lion = {at(15), at(16), at(17), at(18), at(19), at(20), at(21)}};
}

/// at::_fused_adamw_: `p` parameter, `g` gradient, `m` and `v` moments.
HYDRA_HOST_DEVICE inline void adamw_element(const adamw_constants& c, float& p, float gradient, float& m, float& v) {
  const float g = gradient * c.clip;
  m = std::fma(c.ob1, g - m, m);
  v = std::fma(c.ob2 * g, g, v * c.b2);
  p = p * c.decay + (c.step * m) / (std::sqrt(v) / c.sbc2 + c.eps);
}

HYDRA_HOST_DEVICE inline void plain_sgd_element(const sgd_constants& c, float& p, float gradient) {
  p = std::fma(-c.rate, std::fma(c.decay, p, gradient * c.clip), p);
}

/// `b` momentum; in the first step it becomes the gradient itself, whatever `b` contains.
HYDRA_HOST_DEVICE inline void momentum_sgd_element(const sgd_constants& c, bool first, bool nesterov, float& p,
                                                   float gradient, float& b) {
  const float g = std::fma(c.decay, p, gradient * c.clip);
  b = first ? g : b * c.momentum + g;
  p = std::fma(-c.rate, nesterov ? std::fma(c.momentum, b, g) : b, p);
}

/// Chen et al. 2023, "Symbolic Discovery of Optimization Algorithms", algorithm 2; the order of lion-pytorch. The sign
/// of 0 and of NaN is 0.
HYDRA_HOST_DEVICE inline void lion_element(const lion_constants& c, float& p, float gradient, float& m) {
  const float g = gradient * c.clip;
  const float direction = std::fma(c.ob1, g, m * c.b1);
  const float sign = (direction > 0 ? 1.0f : 0.0f) - (direction < 0 ? 1.0f : 0.0f);
  p = std::fma(sign, c.step, p * c.decay);
  m = std::fma(c.ob2, g, m * c.b2);
}

}  // namespace hydra
