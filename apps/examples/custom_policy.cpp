// Training under a scheduling policy of one's own.

#include "apps/examples/shortest_first.hpp"

#include <hydra/hydra.hpp>

#include <fmt/format.h>

using namespace hydra::literals;

int main() {
  hydra::session s;
  s.add_devices(2, hydra::cpu_device{.memory = 1_MiB});
  s.use_policy(std::make_unique<shortest_first>());
  for (std::uint32_t steps : {5u, 10u, 20u})
    s.add_model({.name = fmt::format("{}-steps", steps),
                 .chain = hydra::mlp({.layers = 3, .width = 32}),
                 .data = {hydra::synthetic_classes{}},
                 .batch_size = 32,
                 .steps = steps,
                 .optimizer = hydra::adamw({.learning_rate = 1e-2})});
  const auto report = s.run();
  fmt::print("{}", hydra::to_table(report));
  return report.all_finished() ? 0 : 1;
}
