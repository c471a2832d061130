// Two halves of a GPU train two Llamas in bf16. Where that is not possible, it says what is missing.
//   gpus [STEPS]      default: 20

#include <hydra/hydra.hpp>

#include <fmt/format.h>

#include <string>

hydra::report train_on_halves_of_a_gpu(std::uint32_t steps) {
  hydra::session s{{.seed = 7}};
  s.add_devices(2, "cuda", {{"index", 0}, {"memory", "45%"}, {"precision", "bf16"}});
  for (double lr : {3e-4, 1e-4})
    s.add_model({.name = fmt::format("llama-{}", lr),
                 .chain = hydra::llama({.layers = 8, .width = 512, .heads = 8, .hidden = 1408, .context = 256}),
                 .data = {hydra::synthetic_language{}},
                 .batch_size = 16,
                 .steps = steps,
                 .optimizer = hydra::adamw({.learning_rate = lr})});
  return s.run();
}

int main(int argc, char** argv) {
  try {
    const auto report = train_on_halves_of_a_gpu(argc > 1 ? static_cast<std::uint32_t>(std::stoul(argv[1])) : 20);
    fmt::print("{}", hydra::to_table(report));
    return report.all_finished() ? 0 : 1;
  } catch (const hydra::fault_error& e) {
    fmt::print("no GPU is used: {}\n", e.what_happened().text);
  }
}
