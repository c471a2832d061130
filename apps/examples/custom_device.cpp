// Training on a device type of one's own.

#include "apps/examples/thread_device.hpp"

#include <hydra/hydra.hpp>

#include <fmt/format.h>

using namespace hydra::literals;

int main() {
  hydra::session s;
  for (int i = 0; i < 2; ++i)
    s.add_device("thread", [](const std::string& name) { return std::make_unique<thread_device>(name, 1_MiB); });
  s.add_model({.name = "mlp",
               .chain = hydra::mlp({.layers = 3, .width = 32}),
               .data = {hydra::synthetic_classes{}},
               .batch_size = 32,
               .steps = 20,
               .optimizer = hydra::sgd({.learning_rate = 0.1, .momentum = 0.9})});
  const auto report = s.run();
  fmt::print("{}", hydra::to_table(report));
  return report.all_finished() ? 0 : 1;
}
