#include "actors/model/failure_texts.hpp"

#include <fmt/format.h>

#include <cmath>

namespace hydra {

namespace {

/// "nan", "inf" or "-inf": the sign of NaN says nothing.
std::string not_finite_number(double x) { return std::isnan(x) ? "nan" : fmt::format("{}", x); }

}  // namespace

std::string not_finite_text(std::uint32_t step, double loss) {
  const char* const cause = step == 1 ? "before any update: look for values that are nan, infinite or very large in "
                                        "the data, and in the weights that the model starts with"
                                      : "the losses before it were finite: lower the learning rate or set clip_norm, "
                                        "or look for nan, infinite or very large values in the data";
  return fmt::format("the loss of step {} is {}; {} (on_nan = \"ignore\" continues)", step, not_finite_number(loss),
                     cause);
}

std::string not_finite_validation_text(std::uint32_t steps, double loss) {
  const char* const cause = steps == 0 ? "look for values that are nan, infinite or very large in the validation "
                                         "data, and in the weights that the model starts with"
                                       : "the losses of its steps were finite: lower the learning rate or set "
                                         "clip_norm, or look for nan, infinite or very large values in the "
                                         "validation data";
  return fmt::format("its validation after step {} is {}; {} (on_nan = \"ignore\" continues)", steps,
                     not_finite_number(loss), cause);
}

std::string unit_failure_text(const std::string& model, const unit_failure& f) {
  const auto repeated =
      f.failures > 1 ? fmt::format(" (it has failed {} times, the last time on device {})", f.failures, f.last.value)
                     : "";
  const auto id = fmt::format("model {}", f.what.model.value);
  auto visit = to_string(f.what);
  visit.replace(0, id.size(), fmt::format("model '{}'", model));
  return fmt::format("{}: {}{}", visit, f.why, repeated);
}

}  // namespace hydra
