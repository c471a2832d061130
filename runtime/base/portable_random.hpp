#pragma once
// Random numbers that are the same on every platform: the generator is specified to the bit, the standard library's
// distributions are not. Standard library only.

#include <cmath>
#include <cstdint>
#include <random>

namespace hydra {

class portable_random {
 public:
  explicit portable_random(std::uint64_t seed) : bits_(seed) {}

  /// In [0, 1), in steps of 2^-53.
  double share() { return std::ldexp(static_cast<double>(bits_() >> 11), -53); }

  /// In [least, most).
  double uniform(double least, double most) { return least + (most - least) * share(); }

  /// Its logarithm is uniform.
  double log_uniform(double least, double most) { return least * std::exp(share() * std::log(most / least)); }

  /// In [least, most], the bounds included.
  std::uint32_t whole(std::uint32_t least, std::uint32_t most) {
    return least + static_cast<std::uint32_t>(share() * (static_cast<double>(most - least) + 1));
  }

 private:
  std::mt19937_64 bits_;
};

}  // namespace hydra
