// Two halves of a GPU train two Llamas in bf16. Where there is no GPU, it says what is missing.
//   gpus [STEPS]      default: 20

#include <hydra/hydra.hpp>

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <string_view>

void add_models(hydra::session& s, std::uint32_t steps) {
  for (double lr : {3e-4, 1e-4})
    s.add_model({.name = fmt::format("llama-{}", lr),
                 .chain = hydra::llama({.layers = 8, .width = 512, .heads = 8, .hidden = 1408, .context = 256}),
                 .data = {hydra::synthetic_language{}},
                 .batch_size = 16,
                 .steps = steps,
                 .optimizer = hydra::adamw({.learning_rate = lr})});
}

void plan_on_halves_of_a_gpu(hydra::session& s) {
  s.add_devices(2, "cuda", {{"index", 0}, {"memory", "45%"}, {"precision", "bf16"}});
  s.plan();  // makes the devices
}

/// 0: the text is not a number of steps.
std::uint32_t steps_from(std::string_view text) {
  std::uint32_t steps = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), steps);
  return error == std::errc{} && end == text.data() + text.size() ? steps : 0;
}

int main(int argc, char** argv) {
  const std::uint32_t steps = argc > 1 ? steps_from(argv[1]) : 20;
  if (steps == 0) {
    fmt::print(stderr, "\"{}\" is not a number of steps; use one such as 20\n", argv[1]);
    return 2;
  }
  hydra::session s{{.seed = 7}};
  add_models(s, steps);
  try {
    plan_on_halves_of_a_gpu(s);
  } catch (const hydra::fault_error& e) {
    if (e.what_happened().code != hydra::fault_code::bad_input) throw;  // there is a GPU
    fmt::print("no GPU is used: {}\n", e.what_happened().text);
    return 0;
  }
  const auto report = s.run();
  fmt::print("{}", hydra::to_table(report));
  return report.all_finished() ? 0 : 1;
}
