#include "models/random.hpp"

#include <cmath>
#include <numbers>

namespace hydra {

std::uint64_t random_key(std::initializer_list<std::uint64_t> parts) noexcept {
  std::uint64_t key = 0;
  for (std::uint64_t part : parts) key = random_bits(key ^ part, 0);
  return key;
}

std::uint64_t random_key(std::uint64_t seed, std::string_view text) noexcept {
  std::uint64_t hash = 0xCBF29CE484222325ull;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ull;
  return random_key({seed, hash});
}

double random_normal(std::uint64_t key, std::uint64_t index) noexcept {
  const double radius = std::sqrt(-2 * std::log1p(-random_uniform(key, 2 * index)));  // 1 - u is never 0
  return radius * std::cos(2 * std::numbers::pi * random_uniform(key, 2 * index + 1));
}

}  // namespace hydra
