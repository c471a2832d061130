#pragma once
// Hashes of composite keys. Standard library only.

#include <cstddef>
#include <cstdint>

namespace hydra {

/// Combines one value into a hash. Neighbouring ids must not end in neighbouring buckets: the finalizer of splitmix64
/// (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014) spreads every bit.
constexpr std::size_t mix_hash(std::size_t seed, std::uint64_t value) noexcept {
  std::uint64_t x = seed + 0x9e3779b97f4a7c15 + value;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// The hash of several values in this order.
template <class... Values>
constexpr std::size_t hash_of(Values... values) noexcept {
  std::size_t seed = 0;
  ((seed = mix_hash(seed, static_cast<std::uint64_t>(values))), ...);
  return seed;
}

}  // namespace hydra
