#include "partition/plan/plan.hpp"
#include "runtime/base/fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

namespace hydra {

namespace {

/// Its evaluations are shortened where that helps.
void check_alone(model_plan& m, byte_count cap, std::size_t devices) try {
  workload_plan alone;
  alone.models = {m};
  alone.host_needed = host_demand(alone.models, devices);
  shorten_evaluations(alone, cap, devices);
  check_host(alone, cap);
  m.evaluation = alone.models.front().evaluation;
} catch (const fault_error& e) {
  throw fault_error(e.what_happened().code, fmt::format("model '{}' alone: {}", m.name, e.what_happened().text));
}

std::vector<std::size_t> in_order(std::span<const double> priorities) {
  std::vector<std::size_t> order(priorities.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return priorities[i]; });
  return order;
}

}  // namespace

void admit_models(workload_plan& plan, std::span<const double> priorities, byte_count cap, std::size_t devices) {
  for (auto& m : plan.models) {
    check_alone(m, cap, devices);
  }
  std::vector<model_plan> admitted;
  for (const auto i : in_order(priorities)) {
    if (plan.waiting.empty()) {
      admitted.push_back(plan.models[i]);
    }
    if (!plan.waiting.empty() || host_demand(admitted, devices) > cap) {
      plan.waiting.insert(model_id{static_cast<std::uint32_t>(i)});
    }
  }
  if (!plan.waiting.empty()) {
    admitted.pop_back();
  }
  plan.host_needed = host_demand(admitted, devices);
  plan.host_transfers = host_transfers(admitted, devices);
}

}  // namespace hydra
