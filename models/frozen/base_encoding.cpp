#include "models/frozen/base_encoding.hpp"

#include "models/frozen/nf4.hpp"
#include "models/optimizer/bf16.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/index_select_ops.h>
#include <ATen/ops/stack_ops.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace hydra {
namespace {

/// Parts of a parameter in nf4. The table is stored with it, so that a device has it without a copy of its own.
struct nf4_parts {
  explicit nf4_parts(std::size_t values)
      : scales{nf4_table.size() * sizeof(float)},
        codes{scales + nf4_scales(values) * sizeof(float)},
        end{codes + nf4_code_bytes(values)} {}
  std::size_t scales, codes, end;  ///< where they start, in bytes
};

template <class T, class Byte>
auto cast(std::span<Byte> bytes) {
  return std::span{reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
}

void store_nf4(std::span<const float> values, std::span<std::byte> to) {
  const nf4_parts parts{values.size()};
  std::memcpy(to.data(), nf4_table.data(), sizeof(nf4_table));
  to_nf4(values, cast<float>(to.subspan(parts.scales, parts.codes - parts.scales)),
         cast<std::uint8_t>(to.subspan(parts.codes)));
}

/// Of the host's memory.
void widen_nf4(std::span<const std::byte> stored, std::span<float> values) {
  const nf4_parts parts{values.size()};
  from_nf4(cast<const float>(stored.subspan(parts.scales, parts.codes - parts.scales)),
           cast<const std::uint8_t>(stored.subspan(parts.codes)), values);
}

at::Tensor part(const at::Tensor& bytes, std::size_t begin, std::size_t end) {
  return bytes.narrow(0, static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end - begin));
}

/// By operations of the device, a piece at a time: indices take 4 bytes, values 4 more.
void widen_nf4_on_device(const at::Tensor& stored, const at::Tensor& values) {
  constexpr std::size_t piece = std::size_t{1} << 22;  // values; a multiple of a block
  const auto n = static_cast<std::size_t>(values.numel());
  const nf4_parts parts{n};
  const at::Tensor table = part(stored, 0, parts.scales).view(at::kFloat);
  const at::Tensor scales = part(stored, parts.scales, parts.codes).view(at::kFloat);
  const at::Tensor codes = part(stored, parts.codes, parts.end), to = values.view({-1});
  for (std::size_t begin = 0; begin < n; begin += piece) {
    const std::size_t end = std::min(begin + piece, n), whole = end - (end - begin) % nf4_block;
    const at::Tensor pairs = part(codes, begin / 2, (end + 1) / 2);
    const std::array halves{pairs.bitwise_right_shift(4), pairs.bitwise_and(15)};
    const at::Tensor index = at::_ops::stack::call(halves, 1).view({-1}).to(at::kInt);
    const at::Tensor multiples = part(at::_ops::index_select::call(table, 0, index), 0, end - begin);
    if (whole > begin)
      part(to, begin, whole)
          .copy_(part(multiples, 0, whole - begin)
                     .view({-1, static_cast<std::int64_t>(nf4_block)})
                     .mul(part(scales, begin / nf4_block, whole / nf4_block).unsqueeze(1))
                     .view({-1}));
    if (end > whole)
      part(to, whole, end)
          .copy_(
              part(multiples, whole - begin, end - begin).mul(part(scales, whole / nf4_block, whole / nf4_block + 1)));
  }
}

std::span<const std::byte> bytes_of(const at::Tensor& stored) {
  return {static_cast<const std::byte*>(stored.const_data_ptr()), stored.nbytes()};
}

}  // namespace

std::size_t stored_bytes(base_format format, precision computed, std::size_t elements) {
  if (format == base_format::nf4) return nf4_parts{elements}.end;
  return elements * (format == base_format::bf16 || computed == precision::bf16 ? 2 : 4);
}

void store(base_format format, precision computed, std::span<const float> values, std::span<std::byte> to) {
  if (format == base_format::nf4) {
    store_nf4(values, to);
  } else if (format == base_format::bf16 || computed == precision::bf16) {
    to_bf16(values, cast<std::uint16_t>(to));
  } else {
    std::memcpy(to.data(), values.data(), to.size());
  }
}

void round_as_stored(base_format format, std::span<float> values) {
  if (format == base_format::as_computed) return;
  std::vector<std::byte> stored(stored_bytes(format, precision::fp32, values.size()));
  store(format, precision::fp32, values, stored);
  if (format == base_format::nf4) {
    widen_nf4(stored, values);
  } else {
    from_bf16(cast<const std::uint16_t>(std::span<const std::byte>{stored}), values);
  }
}

void widen(base_format format, const at::Tensor& stored, const at::Tensor& values) {
  const at::NoGradGuard no_grad;
  if (format == base_format::bf16) {
    values.copy_(stored.view(at::kBFloat16).view(values.sizes()));
  } else if (values.is_cpu() && values.scalar_type() == at::kFloat) {
    widen_nf4(bytes_of(stored), {values.mutable_data_ptr<float>(), static_cast<std::size_t>(values.numel())});
  } else {
    widen_nf4_on_device(stored, values);
  }
}

}  // namespace hydra
