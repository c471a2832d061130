#pragma once
// What every loss must do, as models/loss.hpp says it: built in, an example, a user's own.

#include "models/loss.hpp"
#include "runtime/base/tensor_fwd.hpp"

namespace hydra::test {

/// Computes the loss of an fp32 `output` of 2 or more samples; `targets` have the same first dimension, and none is
/// masked. Requires: sum() is one fp32 number, finite, with a finite gradient, which agrees with numerical derivatives
/// if the loss computes in fp64, too; it changes none of its arguments and gives the same bits twice; the sums and
/// gradients of two halves are those of the whole, which those of a mean are not; if it masks(), targets of -100 add
/// nothing to sum, gradient and correct(); correct() counts the targets whose class has the largest output; targets of
/// one sample less are refused with a fault_error. For Catch2 test cases.
void conforms(const loss& l, const at::Tensor& output, const at::Tensor& targets);

}  // namespace hydra::test
