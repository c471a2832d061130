#pragma once
// Randomness keyed by identity, never by history (numerics contract, rule 6): the n-th number of a key is a pure
// function of key and n, so cuts, schedules, retries and resumes cannot change it.

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace hydra {

/// A 64-bit key mixed from parts (SplitMix64 finaliser per part; order matters).
std::uint64_t random_key(std::initializer_list<std::uint64_t> parts) noexcept;
/// A key from a text (FNV-1a, then mixed): for parameter names.
std::uint64_t random_key(std::uint64_t seed, std::string_view text) noexcept;

/// The `index`-th 64 random bits of `key` (counter-based: SplitMix64 of key + index * golden ratio).
constexpr std::uint64_t random_bits(std::uint64_t key, std::uint64_t index) noexcept {
  std::uint64_t z = key + (index + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

/// Uniform in [0, 1) with 53 bits.
constexpr double random_uniform(std::uint64_t key, std::uint64_t index) noexcept {
  return static_cast<double>(random_bits(key, index) >> 11) * 0x1.0p-53;
}

/// Standard normal by Box-Muller from bits 2*index and 2*index+1 of the key.
double random_normal(std::uint64_t key, std::uint64_t index) noexcept;

}  // namespace hydra
