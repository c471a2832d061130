#pragma once
// Muon: the step of a matrix is its momentum with all singular values brought near 1 (Jordan et al. 2024, "Muon: An
// optimizer for hidden layers in neural networks").

#include "models/optimizer/parameter_form.hpp"
#include "runtime/device/kernels/update_math.hpp"

#include <cstddef>
#include <span>

namespace hydra {

/// One step of a whole matrix, as torch.optim.Muon: momentum is a running average, on which (nesterov: on whose average
/// with the gradient) 5 iterations of Newton and Schulz are run; then decoupled weight decay, and the step.
///
/// The iterations are in fp32, torch's in bf16: processors without units for bf16 multiply it several times more slowly
/// than fp32, and its sums would depend on the machine. Where torch's are exact to 2-3 digits, these are to 7. Bits do
/// not depend on the number of threads.
void apply_muon(const muon_constants& constants, const matrix_size& size, std::span<float> parameters,
                std::span<const float> gradients, std::span<float> momentum);

/// Bytes that a step allocates for its time, those of one thread included, and the products that it adds up.
std::size_t muon_scratch(const matrix_size& size) noexcept;
std::size_t muon_products(const matrix_size& size) noexcept;

}  // namespace hydra
