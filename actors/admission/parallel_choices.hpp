#pragma once
// Ways to divide the steps of a workload's models for several devices at the same time.

#include "actors/protocol/model_description.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace hydra {

struct parallel_choice {
  parallel_options asked{};                 ///< of every model, as far as its micro-batches can be divided
  std::vector<parallel_options> models{};   ///< of each model
  friend bool operator==(const parallel_choice&, const parallel_choice&) = default;
};

/// The most that a model's micro-batches can be divided like that: the greatest common divisors.
parallel_options divided(std::uint32_t micro_batches, parallel_options asked);

/// As the models are (1 for what is not chosen), then, for two devices or more, without parallel steps, then others
/// that may be faster: at most `most`, each another one. Replicas: at most one for each device. Waves: as many as let
/// all devices work on one model, up to twice as many; more add copies and little else.
std::vector<parallel_choice> parallel_choices(std::span<const model_description> models, std::size_t devices,
                                              std::size_t most = 8);

/// Those in which every model keeps the numbers that are chosen, each once; of models without a choice the first one
/// alone.
std::vector<parallel_choice> open_choices(std::span<const model_description> models, std::size_t devices);

}  // namespace hydra
