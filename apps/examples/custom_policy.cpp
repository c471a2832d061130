// A scheduling policy of one's own.

#include <hydra/hydra.hpp>

#include <fmt/format.h>

#include <algorithm>

using namespace hydra::literals;

/// Shortest remaining time first: small models finish early, the longest one ends alone.
class shortest_first final : public hydra::policy {
 public:
  std::string name() const override { return "shortest-first"; }

  std::optional<std::size_t> choose(const hydra::device_state&, std::span<const hydra::candidate> candidates,
                                    const hydra::policy_view&) override {
    const auto shortest = std::ranges::min_element(candidates, {}, &hydra::candidate::remaining);
    return static_cast<std::size_t>(shortest - candidates.begin());  // equal ones: the lowest model id, every time
  }
};

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
