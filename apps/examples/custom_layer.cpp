// A chain made of a layer of one's own.

#include "apps/examples/gated_linear.hpp"

#include <hydra/hydra.hpp>

#include <fmt/format.h>

using namespace hydra::literals;

/// Three gated layers from the data's features to its classes.
hydra::chain gated_mlp(std::int64_t width, const hydra::data_source& data) {
  const std::int64_t features = data.sample_input().shape.at(0);
  hydra::chain c{"gated-mlp", data.sample_input(), hydra::cross_entropy()};
  c.add("0.", std::make_shared<gated_linear>(features, width));
  c.add("1.", std::make_shared<gated_linear>(width, width));
  c.add("2.", std::make_shared<gated_linear>(width, data.classes()));
  return c;
}

int main() {
  hydra::session s;
  s.add_devices(1, hydra::cpu_device{.memory = 1_MiB});
  s.add_model({.name = "gated",
               .chain = {"gated-mlp", 0, [](const hydra::data_source& data) { return gated_mlp(64, data); }},
               .data = {hydra::synthetic_classes{}},
               .batch_size = 32,
               .steps = 20,
               .optimizer = hydra::adamw({.learning_rate = 1e-2})});
  const auto report = s.run();
  fmt::print("{}", hydra::to_table(report));
  return report.all_finished() ? 0 : 1;
}
