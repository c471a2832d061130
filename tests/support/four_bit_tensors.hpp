#pragma once
// Weights that bitsandbytes would have quantised to nf4 in blocks of 64, as transformers saves them.

#include "tests/support/hub_checkpoint.hpp"

#include <string>
#include <vector>

namespace hydra::test {

/// Whether the scales are quantised, too.
enum class four_bit_scales : std::uint8_t { fp32, nested };

/// Adds the four (or six) tensors of a weight in place of tensors[name]. Value i has code 7 i mod 16.
void add_four_bits(hub_test_tensors& tensors, const std::string& name, const std::vector<std::int64_t>& shape,
                   four_bit_scales how = four_bit_scales::fp32);

/// What its first n values are.
std::vector<float> values_of_four_bits(std::size_t n, four_bit_scales how = four_bit_scales::fp32);

/// A tensor of these elements.
template <class T>
hub_test_tensor tensor_from(stored_type type, const std::vector<T>& elements) {
  return {type, {static_cast<std::int64_t>(elements.size())},
          {reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T)}};
}

/// A tensor of the bytes of a text.
inline hub_test_tensor tensor_of_text(const std::string& text) {
  return {stored_type::u8, {static_cast<std::int64_t>(text.size())}, text};
}

}  // namespace hydra::test
