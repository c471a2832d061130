#include "tests/support/four_bit_tensors.hpp"

#include "models/frozen/nf4.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hydra::test {
namespace {

constexpr float offset = 0.125F;

std::uint8_t code_of(std::size_t value) { return static_cast<std::uint8_t>(7 * value % 16); }
/// What is stored of a scale: fp32, or this multiple of an eighth, of a 32nd from block 256 on.
float multiple_of(std::size_t block) { return static_cast<float>(block % 100 + 1); }
float group_of(std::size_t block) { return block < 256 ? 0.125F : 0.03125F; }

float scale_of(std::size_t block, four_bit_scales how) {
  return how == four_bit_scales::fp32 ? multiple_of(block) : multiple_of(block) * group_of(block) + offset;
}

std::vector<std::uint8_t> packed(std::size_t n) {
  std::vector<std::uint8_t> bytes((n + 1) / 2);
  for (std::size_t i = 0; i < n; ++i) bytes[i / 2] |= static_cast<std::uint8_t>(code_of(i) << (i % 2 == 0 ? 4 : 0));
  return bytes;
}

void add_nested(hub_test_tensors& tensors, const std::string& name, std::size_t blocks) {
  std::vector<float> table(256), scales;
  std::vector<std::uint8_t> indices;
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = static_cast<float>(255 - i);
  for (std::size_t b = 0; b < blocks; ++b) indices.push_back(static_cast<std::uint8_t>(255 - multiple_of(b)));
  for (std::size_t b = 0; b < blocks; b += 256) scales.push_back(group_of(b));
  tensors[name + ".absmax"] = tensor_from(stored_type::u8, indices);
  tensors[name + ".nested_absmax"] = tensor_from(stored_type::f32, scales);
  tensors[name + ".nested_quant_map"] = tensor_from(stored_type::f32, table);
}

void add_plain(hub_test_tensors& tensors, const std::string& name, std::size_t blocks) {
  std::vector<float> scales;
  for (std::size_t b = 0; b < blocks; ++b) scales.push_back(multiple_of(b));
  tensors[name + ".absmax"] = tensor_from(stored_type::f32, scales);
}

}  // namespace

void add_four_bits(hub_test_tensors& tensors, const std::string& name, const std::vector<std::int64_t>& shape,
                   four_bit_scales how) {
  std::size_t n = 1;
  for (const std::int64_t size : shape) n *= static_cast<std::size_t>(size);
  const bool nested = how == four_bit_scales::nested;
  (nested ? add_nested : add_plain)(tensors, name, (n + 63) / 64);
  tensors[name] = tensor_from(stored_type::u8, packed(n));
  tensors[name].shape.push_back(1);
  tensors[name + ".quant_map"] = tensor_from(stored_type::f32, std::vector<float>{nf4_table.begin(), nf4_table.end()});
  tensors[name + ".quant_state.bitsandbytes__nf4"] = tensor_of_text(fmt::format(
      R"({{"quant_type": "nf4", "blocksize": 64, "dtype": "bfloat16", "shape": [{}]{}}})", fmt::join(shape, ", "),
      nested ? R"(, "nested_blocksize": 256, "nested_dtype": "float32", "nested_offset": 0.125)" : ""));
}

std::vector<float> values_of_four_bits(std::size_t n, four_bit_scales how) {
  std::vector<float> values;
  for (std::size_t i = 0; i < n; ++i) values.push_back(nf4_table[code_of(i)] * scale_of(i / 64, how));
  return values;
}

}  // namespace hydra::test
