#pragma once
// What results rely on and no type says: layers are pure, losses are sums. Checked by the pilot before it measures.

#include "models/chain.hpp"
#include "partition/profile/measurement_context.hpp"
#include "partition/profile/profile.hpp"

namespace hydra {

/// Computes every distinct layer twice on the same one or two samples, and the loss of one sample and of the same one
/// twice. No more is in memory than what measuring the step needs. Throws fault_error{bad_input} for
/// a layer whose forward() returns other bits the second time, or another shape than its output() says, and for a loss
/// that is a mean. What cannot be computed with these values is not judged: measuring reports what throws.
void check_contract(const chain& model, const profiled_step& step, const measurement_context& on);

}  // namespace hydra
