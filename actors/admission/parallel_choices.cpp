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

std::size_t shards_of(const model_description& m) {
  const auto* rule = std::get_if<balanced_cut>(&m.cuts);
  return rule ? rule->shards : 1;
}

/// Of a model with one wave finer cuts only add copies.
std::size_t shards_of(const model_description& m, parallel_options divided, std::size_t asked) {
  return divided.waves > 1 && std::holds_alternative<balanced_cut>(m.cuts) ? asked : 1;
}

parallel_choice as_given(std::span<const model_description> models) {
  parallel_choice given;
  for (const auto& m : models) {
    given.models.push_back({m.parallel.or_one(), shards_of(m)});
    auto& [parallel, shards] = given.asked;
    parallel.replicas = std::max(parallel.replicas, m.parallel.replicas);
    parallel.waves = std::max(parallel.waves, m.parallel.waves);
    shards = std::max(shards, given.models.back().shards);
  }
  return given;
}

parallel_choice divided(std::span<const model_description> models, const model_way& asked) {
  parallel_choice choice{.asked = asked};
  for (const auto& m : models) {
    auto parallel = divided(m.micro_batches, asked.parallel);
    parallel.waves = m.replicas_until.empty() ? parallel.waves : 1;  // replicas in waves do not meet
    choice.models.push_back({parallel, shards_of(m, parallel, asked.shards)});
  }
  return choice;
}

/// None if the number that it keeps does not divide what is left.
std::optional<model_way> kept(const model_description& m, const model_way& asked) {
  const auto& [replicas, waves] = m.parallel;
  const auto r = replicas > 0 ? replicas : std::gcd(m.micro_batches, asked.parallel.replicas);
  const auto each = m.micro_batches / r;
  const auto w = waves > 0 ? waves : std::gcd(each, asked.parallel.waves);
  const auto given = shards_of(m);
  const bool chosen = waves > 0 || given > 1;
  const auto shards = chosen ? given : shards_of(m, {r, w}, asked.shards);
  return each % w == 0 ? std::optional<model_way>({{r, w}, shards}) : std::nullopt;
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

/// Not where the user has said how many shards. A model with a frozen base has the cuts of those that join later and
/// share it.
bool may_be_finer(const model_description& m, const model_plan& planned) {
  const auto* rule = std::get_if<balanced_cut>(&m.cuts);
  const bool has_base =
      std::ranges::any_of(planned.shards, [](const shard_plan& s) { return s.base > byte_count{}; });
  return rule && rule->shards == 1 && planned.shape().lanes() == 1 && !has_base;
}

/// Each way once.
void add(std::vector<parallel_choice>& all, parallel_choice choice) {
  if (!std::ranges::count(all, choice.models, &parallel_choice::models)) {
    all.push_back(std::move(choice));
  }
}

}  // namespace

model_description divided(model_description m, const model_way& way) {
  m.parallel = way.parallel;
  if (auto* rule = std::get_if<balanced_cut>(&m.cuts)) {
    rule->shards = way.shards;
  }
  return m;
}

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
  const auto replicas = divisors(models, enough);
  for (const auto r : replicas) {
    if (all.size() < most) {
      add(all, divided(models, {{.replicas = r, .waves = 1}}));
    }
  }
  for (const auto r : replicas) {
    for (const auto w : divisors(models, 4 * enough / r)) {
      if (r * w >= enough && all.size() < most) {
        add(all, divided(models, {{.replicas = r, .waves = w}}));
      }
    }
  }
  for (std::size_t i = 0, n = all.size(); i < n; ++i) {
    const auto parallel = all[i].asked.parallel.or_one();
    const auto stages = std::max(enough / parallel.replicas, 1U);
    for (const std::size_t shards : {stages, 2 * stages}) {
      add(all, divided(models, {parallel, shards}));
    }
  }
  return all;
}

std::vector<parallel_choice> finer_choices(std::span<const model_description> models, const workload_plan& plan) {
  std::vector all{as_given(models)};
  for (const std::size_t halves : {3, 4, 6, 8}) {
    auto choice = all.front();
    for (std::size_t i = 0; i < models.size(); ++i) {
      if (may_be_finer(models[i], plan.models[i])) {
        choice.models[i].shards = (plan.models[i].shards.size() * halves + 1) / 2;
      }
    }
    add(all, std::move(choice));
  }
  return all;
}

std::vector<parallel_choice> open_choices(std::span<const model_description> models, std::size_t devices) {
  std::vector<parallel_choice> open{as_given(models)};
  for (const auto& choice : parallel_choices(models, devices)) {
    if (auto same = kept(models, choice)) {
      add(open, *std::move(same));
    }
  }
  return open;
}

}  // namespace hydra
