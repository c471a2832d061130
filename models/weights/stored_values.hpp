#pragma once
// The elements of a stored tensor as fp32, exactly.

#include "models/weights/safetensors.hpp"

#include <cstddef>
#include <span>

namespace hydra {

/// Types whose values are all representable in fp32: F32, BF16, F16.
bool widens_to_f32(stored_type type) noexcept;

/// Writes the elements of a tensor of such a type, bit for bit (F32) or widened (the others; infinities stay
/// infinities, NaNs stay NaNs). Uses all cores; the elements need no alignment. Throws fault_error{internal} for
/// another type or another number of elements.
void widen(const stored_tensor& from, std::span<float> to);

/// widen() for a tensor in a file's mapping (safetensors_file): releases each part's memory when it has been read, so
/// that a tensor is never in memory twice. Returns how many elements are not finite.
std::size_t widen_mapped(const stored_tensor& from, std::span<float> to);

/// How many are infinite or no number.
std::size_t not_finite_in(std::span<const float> values);

/// Whether two such tensors have the same shape and equal values, whatever their types; false for others. Releases what
/// it has read, as widen_mapped() does.
bool equal_mapped(const stored_tensor& a, const stored_tensor& b);

}  // namespace hydra
