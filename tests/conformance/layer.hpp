#pragma once
// What every layer must do, as models/layer.hpp says it: built in, an example, a user's own.

#include "models/layer.hpp"
#include "runtime/base/tensor_fwd.hpp"

namespace hydra::test {

/// Computes the layer on `input`, a micro-batch of 2 or more samples as forward() gets it: real numbers, or i64 ids of
/// a first layer. Parameters are random. Requires: parameters() have names and sizes, the same each time; forward() has
/// the shape and type that output() promises, in fp32 and (without running averages) in bf16; it changes none of its
/// arguments and gives the same bits twice, in training and outside, with and without gradients (but see
/// depends_on_gradients()); every trained parameter and a real input have gradients, which are finite and, if the layer
/// computes in fp64, too, agree with numerical derivatives; rows may be computed alone if it is_row_wise(). For Catch2
/// test cases.
void conforms(const layer& l, const at::Tensor& input);

}  // namespace hydra::test
