#pragma once
// How the angles of rotary positions depend on the length of texts: what configurations of models say of it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace hydra {

/// How the angles are scaled for texts longer than those of the original training.
struct rope_scaling {
  enum class kind : std::uint8_t { none, linear, llama3, longrope } how = kind::none;
  double factor = 1;                  ///< of the scaling
  double low_frequency_factor = 1;    ///< llama3: waves longer than original_context / this are stretched
  double high_frequency_factor = 4;   ///< llama3: waves shorter than original_context / this are not
  std::int64_t original_context = 0;  ///< llama3: tokens per sample in the original training
  std::vector<double> factors{};      ///< longrope: of the wavelength of each pair
  double magnitude = 1;               ///< longrope: of the rotated queries and keys
  friend bool operator==(const rope_scaling&, const rope_scaling&) = default;
};

/// "none", "linear", "llama3", "longrope".
inline std::string to_string(rope_scaling::kind how) {
  constexpr std::array names{"none", "linear", "llama3", "longrope"};
  return names.at(static_cast<std::size_t>(how));
}

}  // namespace hydra
