#pragma once
// Randomness keyed by identity, never by history (numerics contract, rule 6): the n-th number of a key is a pure
// function of key and n, so cuts, schedules, retries and resumes cannot change it.

#include "runtime/device/kernels/keyed_random.hpp"  // random_bits

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace hydra {

/// A 64-bit key mixed from parts (SplitMix64 finaliser per part; order matters).
std::uint64_t random_key(std::initializer_list<std::uint64_t> parts) noexcept;
/// A key from a text (FNV-1a, then mixed): for parameter names.
std::uint64_t random_key(std::uint64_t seed, std::string_view text) noexcept;

/// Uniform in [0, 1) with 53 bits.
constexpr double random_uniform(std::uint64_t key, std::uint64_t index) noexcept {
  return static_cast<double>(random_bits(key, index) >> 11) * 0x1.0p-53;
}

/// Standard normal by Box-Muller from bits 2*index and 2*index+1 of the key.
double random_normal(std::uint64_t key, std::uint64_t index) noexcept;

}  // namespace hydra
