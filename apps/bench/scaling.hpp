#pragma once
// How much faster more devices are: for several models, and for one model in replicas, as a pipeline, and with each
// layer in pieces.

#include "apps/bench/model_scaling.hpp"
#include "apps/bench/piece_scaling.hpp"
#include "apps/bench/pipeline_scaling.hpp"
#include "apps/bench/replica_scaling.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

namespace hydra::apps {

struct scaling_options {
  std::string rows = "all";  ///< "models", "replicas", "pipelines", "pieces" or "all" of them
  int repeats = 3;
};

/// The parts that were asked for.
struct scaling_result {
  std::optional<model_scaling_result> models{};
  std::optional<replica_scaling_result> replicas{};
  std::optional<pipeline_scaling_result> pipelines{};
  std::optional<piece_scaling_result> pieces{};
};

/// What `rows` can be.
const std::vector<std::string>& scaling_rows();

scaling_result measure_scaling(const scaling_options& o);

std::string to_table(const scaling_result& r);
nlohmann::ordered_json json_of(const scaling_result& r);

}  // namespace hydra::apps
