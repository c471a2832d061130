#pragma once
// The elements of a stored tensor as fp32, exactly.

#include "models/weights/safetensors.hpp"

#include <cstddef>
#include <span>

namespace hydra {

/// Types of which every value is a value of fp32: F32, BF16, F16.
bool widens_to_f32(stored_type type) noexcept;

/// Writes the elements of a tensor of such a type, bit for bit (F32) or widened (the others; infinities stay infinities,
/// NaNs stay NaNs). All cores take part; the elements may begin anywhere. Throws fault_error{internal} for another type
/// or another number of elements.
void widen(const stored_tensor& from, std::span<float> to);

/// widen() for a tensor in a file's mapping (safetensors_file): gives each part's memory back when it has been read, so
/// that a tensor is never in memory twice. Returns how many elements are not finite.
std::size_t widen_mapped(const stored_tensor& from, std::span<float> to);

}  // namespace hydra
