#pragma once
// A model that is ready for a run: cut, its memory filled, its data opened.

#include "models/data/batch_order.hpp"
#include "models/data/token_counter.hpp"
#include "models/data_source.hpp"
#include "partition/checkpoint/checkpoint.hpp"
#include "partition/execute/sharded_model.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace hydra {

/// Where a model's minibatches come from. `source` is null in a simulation: then batches are empty buffers.
struct model_data {
  std::shared_ptr<const data_source> source;
  batch_order order;
};

/// Facts about a model's chain and data for the report: chain and data may be released by then.
struct model_facts {
  std::string family;
  std::int64_t parameters = 0;
  std::int64_t frozen_parameters = 0;
  bool has_perplexity = false;           ///< a cross entropy over sequences
  std::optional<loss_floor> floor{};     ///< of its validation samples
  std::shared_ptr<const token_counts> tokens{};  ///< null: its samples have no padding
};

struct model_entry {
  sharded_model_ptr what;
  model_memory memory;                   ///< version 0, or a checkpoint's
  model_standing standing;               ///< the position from which it continues
  model_data data;
  model_facts facts{};                   ///< none in a simulation
};

}  // namespace hydra
