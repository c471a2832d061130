// Training with a loss of one's own.

#include "apps/examples/focal_loss.hpp"

#include <hydra/hydra.hpp>

#include <fmt/format.h>

using namespace hydra::literals;

int main() {
  hydra::session s;
  s.add_devices(1, hydra::cpu_device{.memory = 1_MiB});
  for (double gamma : {0.0, 2.0})
    s.add_model({.name = fmt::format("focal-{}", gamma),
                 .chain = with_loss(hydra::mlp({.layers = 2, .width = 32}), std::make_shared<focal_loss>(gamma)),
                 .data = {hydra::synthetic_classes{}},
                 .batch_size = 32,
                 .steps = 20,
                 .optimizer = hydra::adamw({.learning_rate = 1e-2}),
                 .validate = hydra::validation_options{.every_steps = 10}});
  const auto report = s.run();
  fmt::print("{}", hydra::to_table(report));
  return report.all_finished() ? 0 : 1;
}
