// Training on data of one's own.

#include "apps/examples/spirals.hpp"

#include <hydra/hydra.hpp>

#include <fmt/format.h>

using namespace hydra::literals;

int main() {
  hydra::session s;
  s.add_devices(1, hydra::cpu_device{.memory = 1_MiB});
  s.add_model({.name = "spirals",
               .chain = hydra::mlp({.layers = 2, .width = 64}),
               .data = {std::make_shared<spirals>()},
               .batch_size = 50,
               .steps = 200,
               .optimizer = hydra::adamw({.learning_rate = 1e-2}),
               .validate = hydra::validation_options{.every_steps = 50}});
  const auto report = s.run();
  fmt::print("{}", hydra::to_table(report));
  const auto accuracy = report.models.front().validation.back().accuracy.value_or(0);
  fmt::print("{:.0f} % of the points between those of training are classified correctly\n", 100 * accuracy);
  return report.all_finished() ? 0 : 1;
}
