#pragma once
// Distributions of keys, and draws that are the same on every platform. Standard library only.

#include "runtime/base/portable_random.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

enum class distribution : std::uint8_t { uniform, log_uniform, integers, log_integers, choice };

/// A key of a model that a search varies. Bounds are included.
struct searched_key {
  std::string key;  ///< dotted path in [[model]]
  distribution from = distribution::uniform;
  double least = 0;
  double most = 0;
  std::vector<std::string> choices{};  ///< as TOML

  bool operator==(const searched_key&) const = default;
};

/// A value as TOML. Numbers that are not whole have at most four significant digits, so that names, files and bits
/// agree.
std::string draw(const searched_key& key, portable_random& random);

/// A value near `value`: with a chance of one quarter, and always of choices, a new draw; else 0.8 or 1.25 times as
/// large, within the bounds (Jaderberg et al. 2017, section 4.1: 0.8 or 1.2).
std::string explore(const searched_key& key, const std::string& value, portable_random& random);

/// For the generator of one draw: depends on nothing but these three.
std::uint64_t seed_for(std::uint64_t seed, std::string_view name, std::uint64_t number);

}  // namespace hydra
