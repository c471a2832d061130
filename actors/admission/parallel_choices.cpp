#include "actors/admission/parallel_choices.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>

namespace hydra {

namespace {

using counts = std::vector<std::uint32_t>;

/// Of the micro-batches of any model.
counts divisors(std::span<const model_description> models, std::uint32_t most) {
  counts all;
  for (std::uint32_t n = 1; n <= most; ++n) {
    if (std::ranges::any_of(models, [n](const model_description& m) { return m.micro_batches % n == 0; })) {
      all.push_back(n);
    }
  }
  return all;
}

parallel_choice as_given(std::span<const model_description> models) {
  parallel_choice given;
  for (const auto& m : models) {
    given.models.push_back(m.parallel.or_one());
    given.asked.replicas = std::max(given.asked.replicas, m.parallel.replicas);
    given.asked.waves = std::max(given.asked.waves, m.parallel.waves);
  }
  return given;
}

parallel_choice divided(std::span<const model_description> models, parallel_options asked) {
  parallel_choice choice{.asked = asked};
  for (const auto& m : models) {
    choice.models.push_back(divided(m.micro_batches, asked));
  }
  return choice;
}

/// None if the number that it keeps does not divide what is left.
std::optional<parallel_options> kept(const model_description& m, parallel_options asked) {
  const auto replicas = m.parallel.replicas > 0 ? m.parallel.replicas : std::gcd(m.micro_batches, asked.replicas);
  const auto each = m.micro_batches / replicas;
  const auto waves = m.parallel.waves > 0 ? m.parallel.waves : std::gcd(each, asked.waves);
  return each % waves == 0 ? std::optional<parallel_options>({replicas, waves}) : std::nullopt;
}

std::optional<parallel_choice> kept(std::span<const model_description> models, parallel_choice choice) {
  for (std::size_t i = 0; i < models.size(); ++i) {
    const auto all = kept(models[i], choice.asked);
    if (!all) {
      return std::nullopt;
    }
    choice.models[i] = *all;
  }
  return choice;
}

}  // namespace

parallel_options divided(std::uint32_t micro_batches, parallel_options asked) {
  const auto replicas = std::gcd(micro_batches, asked.replicas);
  return {.replicas = replicas, .waves = std::gcd(micro_batches / replicas, asked.waves)};
}

std::vector<parallel_choice> parallel_choices(std::span<const model_description> models, std::size_t devices,
                                              std::size_t most) {
  const auto enough = static_cast<std::uint32_t>(devices);
  std::vector all{as_given(models)};
  if (devices < 2) {
    return all;
  }
  const auto add = [&](parallel_options asked) {
    auto choice = divided(models, asked);
    if (all.size() < most && std::ranges::find(all, choice.models, &parallel_choice::models) == all.end()) {
      all.push_back(std::move(choice));
    }
  };
  const auto replicas = divisors(models, enough);
  for (const auto r : replicas) {
    add({.replicas = r, .waves = 1});
  }
  for (const auto r : replicas) {
    for (const auto w : divisors(models, 2 * enough / r)) {
      if (r * w >= enough) {
        add({.replicas = r, .waves = w});
      }
    }
  }
  return all;
}

std::vector<parallel_choice> open_choices(std::span<const model_description> models, std::size_t devices) {
  std::vector<parallel_choice> open{as_given(models)};
  for (const auto& choice : parallel_choices(models, devices)) {
    if (const auto same = kept(models, choice);
        same && !std::ranges::count(open, same->models, &parallel_choice::models)) {
      open.push_back(*same);
    }
  }
  return open;
}

}  // namespace hydra
