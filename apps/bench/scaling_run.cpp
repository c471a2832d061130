#include "apps/bench/scaling_run.hpp"

namespace hydra::apps {

scaling_run figures_of(const report& r) {
  double busy = 0;
  for (const device_report& d : r.devices) busy += seconds(d.busy);
  const double makespan = seconds(r.makespan);
  return {makespan, seconds(r.bound()), busy / (makespan * static_cast<double>(r.devices.size()))};
}

void known_parameters::check(const report& r, const std::string& run) {
  for (const model_report& m : r.models)
    if (digests_.try_emplace(m.name, m.digest).first->second != m.digest)
      throw fault_error{fault_code::internal, run + ": the parameters of " + m.name + " differ from another run's"};
}

}  // namespace hydra::apps
