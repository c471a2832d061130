// Models that are added and stopped during a run: learning rates that do badly are replaced by others.

#include <hydra/hydra.hpp>

#include <fmt/format.h>

#include <map>
#include <string>

using namespace hydra::literals;

hydra::model_description candidate(double learning_rate) {
  return {.name = fmt::format("lr-{:.0e}", learning_rate),
          .chain = hydra::mlp({.layers = 3, .width = 32}),
          .data = {hydra::synthetic_classes{}},
          .batch_size = 32,
          .steps = 40,
          .optimizer = hydra::adamw({.learning_rate = learning_rate})};
}

int main() {
  hydra::session s{{.seed = 7}};
  s.add_devices(2, hydra::cpu_device{.memory = 1_MiB});
  for (double rate : {1e-6, 1e-5, 1e-4}) s.add_model(candidate(rate));

  std::map<std::string, float> first;   // loss of each model's first step
  double next = 1e-3;
  s.on<hydra::step_completed>([&](const auto& e, hydra::control& c) {
    first.try_emplace(e.name, e.loss);
    if (e.done != 10 || e.loss < 0.9F * first.at(e.name)) return;
    c.stop(e.model);                    // ten steps have brought less than a tenth
    if (next > 0.5) return;
    c.add(candidate(next));             // made ready beside the run; its results are those it has alone
    next *= 10;
  });
  const auto report = s.run();
  fmt::print("{}", hydra::to_table(report));
  return report.notes.empty() && report.models.size() > 3 ? 0 : 1;
}
