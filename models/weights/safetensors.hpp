#pragma once
// safetensors: named tensors in one file, https://github.com/huggingface/safetensors#format. Writing; reading is
// safetensors_file.

#include "runtime/base/fwd.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

/// Element types of the format, except those of less than a byte.
enum class stored_type : std::uint8_t {
  f32, f64, i64, u8, bf16, f16, boolean, i8, i16, i32, u16, u32, u64, f8_e4m3, f8_e5m2, f8_e8m0, c64
};

/// "F32", as the format writes it.
std::string_view to_string(stored_type type) noexcept;
/// The inverse; empty for an unknown type.
std::optional<stored_type> stored_type_of(std::string_view text) noexcept;
/// Bytes of one element.
std::uint64_t width_of(stored_type type) noexcept;

/// A tensor's shape and little-endian elements, the last dimension contiguous. The bytes are not owned.
struct stored_tensor {
  stored_type type = stored_type::f32;
  std::vector<std::int64_t> shape;  ///< empty: one element
  std::span<const std::byte> data;
};

/// Bytes of a tensor of that type and shape; empty if a dimension is negative or the product does not fit 63 bits.
std::optional<std::uint64_t> bytes_of(stored_type type, std::span<const std::int64_t> shape) noexcept;

struct named_tensor {
  std::string name;  ///< UTF-8
  stored_tensor tensor;
};

/// One whose bytes are asked for when they are written: once, and they are valid until the next ones are.
struct deferred_tensor {
  std::string name;  ///< UTF-8
  stored_type type = stored_type::f32;
  std::vector<std::int64_t> shape;
  std::function<stored_tensor()> values;
};

/// Writes a whole file: header with {"format": "pt"} and `metadata`, data in the order given, the first at a multiple
/// of 64 bytes. Throws fault_error{internal} for what readers would refuse: a name that is not UTF-8, is "__metadata__"
/// or occurs twice; data whose size does not match type and shape; data that would not start at a multiple of its
/// element's width (give wider types first).
void write_safetensors(byte_sink& out, std::span<const deferred_tensor> tensors,
                       const std::map<std::string, std::string>& metadata = {});
void write_safetensors(byte_sink& out, std::span<const named_tensor> tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace hydra
