#include "models/running_average.hpp"

#include "runtime/base/fault.hpp"

#include <fmt/format.h>

#include <cmath>

namespace hydra {

void apply_average(double averaging, std::uint32_t micro_batches, std::span<float> average,
                   std::span<const float> gathered) {
  if (gathered.size() != average.size())
    throw fault_error{fault_code::internal,
                      fmt::format("{} running averages with a gradient of {}", average.size(), gathered.size())};
  const auto kept = static_cast<float>(std::pow(1 - averaging, micro_batches));
  for (std::size_t i = 0; i < average.size(); ++i) average[i] = average[i] * kept + gathered[i];
}

}  // namespace hydra
