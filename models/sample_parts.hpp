#pragma once
// Samples that consist of several tensors.

#include "models/tensor_spec.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hydra {

struct sample_part {
  std::string name;
  std::string type;         ///< as safetensors writes it: "I64"
  std::uint64_t width = 0;  ///< bytes of an element
  std::vector<std::int64_t> shape;

  std::int64_t bytes() const noexcept;
  friend bool operator==(const sample_part&, const sample_part&) = default;
};

/// Such a sample is a row of bits: its parts one after the other, each padded with zeros to 8 bytes.
constexpr std::int64_t padded_part(std::int64_t bytes) noexcept { return (bytes + 7) / 8 * 8; }

/// bits[n]: one sample.
tensor_spec row_of(std::span<const sample_part> parts);

/// "image F32[3, 8, 8], mask I64[8, 8]".
std::string to_string(std::span<const sample_part> parts);

}  // namespace hydra
