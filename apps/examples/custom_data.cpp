// Custom data: points of two spirals, computed when they are read.

#include <hydra/hydra.hpp>

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <numbers>

using namespace hydra::literals;

/// Two interleaved spirals in the plane; the class is the arm. Sample i is a function of i, so that reading it again, in
/// whatever order and from whatever thread, gives the same.
class spirals final : public hydra::data_source {
 public:
  std::size_t samples(hydra::split part) const override { return part == hydra::split::train ? 1000 : 200; }
  hydra::tensor_spec sample_input() const override { return {{2}, hydra::element::f32}; }
  hydra::tensor_spec sample_target() const override { return {{}, hydra::element::i64}; }
  std::int64_t classes() const override { return 2; }
  std::string describe() const override { return "two spirals"; }

  std::size_t read(hydra::split part, std::size_t index, std::span<std::byte> input,
                   std::span<std::byte> target) const override {
    const auto arm = static_cast<std::int64_t>(index % 2);
    const double shift = part == hydra::split::train ? 0.0 : 0.5;  // validation points are between those of training
    const double along = (static_cast<double>(index) + shift) / static_cast<double>(samples(part));
    const double angle = 3 * std::numbers::pi * along + std::numbers::pi * static_cast<double>(arm);
    const float point[] = {static_cast<float>(along * std::cos(angle)), static_cast<float>(along * std::sin(angle))};
    std::memcpy(input.data(), point, sizeof point);
    std::memcpy(target.data(), &arm, sizeof arm);
    return 1;  // one target that counts
  }
};

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
