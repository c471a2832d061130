#include "actors/model/failure_texts.hpp"

#include <fmt/format.h>

namespace hydra {

std::string not_finite_text(std::uint32_t step, double loss) {
  const char* const cause =
      step == 1 ? "before any update: look for values that are nan, infinite or very large in the data, and in the weights that "
                  "the model starts with"
                : "the losses before it were finite: lower the learning rate or set clip_norm, or look for nan, infinite or very "
                  "large values in the data";
  return fmt::format("the loss of step {} is {}; {} (on_nan = \"ignore\" continues)", step, loss, cause);
}

std::string unit_failure_text(const unit& u, const std::string& why, std::size_t failures, device_id last) {
  const auto repeated =
      failures > 1 ? fmt::format(" (it has failed {} times, the last time on device {})", failures, last.value) : "";
  return fmt::format("{}: {}{}", to_string(u), why, repeated);
}

}  // namespace hydra
