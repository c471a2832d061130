#include "partition/execute/finite_parameters.hpp"

#include "runtime/base/fault.hpp"

#include <fmt/format.h>

namespace hydra {

bool checks_parameters(const sharded_model& model, std::uint32_t step) noexcept {
  return model.stop_on_nan && step + 1 == model.steps;
}

void refuse_not_finite(const sharded_model& model, const placed_parameter& p) {
  throw fault_error(fault_code::not_finite,
                    fmt::format("the values of {} after step {}, the last one, are not finite, although the losses "
                                "were: lower the learning rate or set clip_norm (on_nan = \"ignore\" keeps them)",
                                p.name, model.steps));
}

}  // namespace hydra
