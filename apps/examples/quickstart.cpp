// The first program of docs/cpp.md: two GPT models on two virtual devices, a callback, a report.
//   quickstart [STEPS [CORPUS.txt]]      default: 200 steps on an embedded synthetic language

#include <hydra/hydra.hpp>

#include <fmt/format.h>

#include <string>

using namespace hydra::literals;

int main(int argc, char** argv) {
  const auto steps = static_cast<std::uint32_t>(argc > 1 ? std::stoul(argv[1]) : 200);
  const auto data = argc > 2 ? hydra::text(argv[2]) : hydra::data_description{hydra::synthetic_language{}};

  hydra::session s{{.seed = 7}};
  s.add_devices(2, hydra::cpu_device{.memory = 24_MiB, .link = 1_GiB_per_s});
  for (double lr : {3e-4, 1e-4})
    s.add_model({.name = fmt::format("gpt-{}", lr),
                 .chain = hydra::gpt2({.layers = 6, .width = 128, .heads = 4, .context = 64}),
                 .data = data,
                 .batch_size = 8,
                 .steps = steps,
                 .optimizer = hydra::adamw({.learning_rate = lr})});
  s.on<hydra::step_completed>([](const auto& e, hydra::control& c) {
    if (e.loss > 20) c.stop(e.model);
  });
  const auto report = s.run();
  fmt::print("{}", hydra::to_table(report));
  return report.all_finished() ? 0 : 1;
}
