#pragma once
// A frozen parameter as it is stored.

#include "models/frozen/base_format.hpp"
#include "runtime/base/tensor_fwd.hpp"
#include "runtime/device/precision.hpp"

#include <cstddef>
#include <span>

namespace hydra {

/// Bytes of a parameter of that many elements with which devices compute in `computed`. nf4: the table, a scale for
/// each block, the codes.
std::size_t stored_bytes(base_format format, precision computed, std::size_t elements);

/// Fills `to`, of stored_bytes().
void store(base_format format, precision computed, std::span<const float> values, std::span<std::byte> to);

/// Replaces values by those that are computed with once they are stored, in fp32.
void round_as_stored(base_format format, std::span<float> values);

/// Fills `values`, of the computed type, from its `stored` bytes, a tensor on the same device; rounded from fp32 where
/// they are narrower. Not as_computed.
void widen(base_format format, const at::Tensor& stored, const at::Tensor& values);

}  // namespace hydra
