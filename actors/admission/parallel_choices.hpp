#pragma once
// Ways to divide the steps of a workload's models for several devices at the same time.

#include "actors/protocol/model_description.hpp"
#include "partition/plan/plan.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace hydra {

/// How the steps of one model are divided.
struct model_way {
  parallel_options parallel{};
  std::size_t shards = 1;           ///< balanced_cut::shards; of a model that is cut in another way 1
  friend bool operator==(const model_way&, const model_way&) = default;
};

struct parallel_choice {
  model_way asked{};                ///< of every model, as far as it can be divided like that
  std::vector<model_way> models{};  ///< of each model
  friend bool operator==(const parallel_choice&, const parallel_choice&) = default;
};

/// The most that a model's micro-batches can be divided like that: the greatest common divisors.
parallel_options divided(std::uint32_t micro_batches, parallel_options asked);

/// The description with that way.
model_description divided(model_description m, const model_way& way);

/// As the models are (1 for what is not chosen), then, for two devices or more, without parallel steps, then others
/// that may be faster, each another one. Replicas: at most one for each device. Waves: as many as let all devices work
/// on one model, up to four times as many: more fill a pipeline better, and add copies. Of replicas and waves at most
/// `most`; waves also with a shard, and with two, for each device of a replica: a pipeline has as many stages.
std::vector<parallel_choice> parallel_choices(std::span<const model_description> models, std::size_t devices,
                                              std::size_t most = 12);

/// As the models are, then with one and a half to four times as many shards as `plan` has of models of one lane without
/// frozen bases whose number of shards is not given: a load is hidden behind shorter visits, and there is room for more
/// of them.
std::vector<parallel_choice> finer_choices(std::span<const model_description> models, const workload_plan& plan);

/// Those in which every model keeps the numbers that are chosen, each once; of models without a choice the first one
/// alone.
std::vector<parallel_choice> open_choices(std::span<const model_description> models, std::size_t devices);

}  // namespace hydra
