#pragma once
// What spilling costs: a model on devices with less and less memory, beside the same model in one shard and beside a
// plain loop on LibTorch.

#include "apps/bench/measurement.hpp"
#include "runtime/base/bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace hydra::apps {

struct spilling_options {
  std::int64_t layers = 8, width = 256, heads = 4, context = 128;  ///< of a GPT-2
  std::uint32_t batch_size = 4;
  std::uint32_t steps = 6;
  std::vector<double> memory{1, 1.5, 2, 3, 4, 5, 6, 8};  ///< of the device, over the smallest that suffices
  std::vector<double> ratios{
      0, 0.25, 1};  ///< time of the mean promote / of the mean unit at twice that memory; 0: unlimited link
  int repeats = 3;
};

struct spilling_cell {
  byte_count memory;
  double ratio = 0;
  byte_rate link{};
  std::size_t shards = 0;
  double saved = 0;  ///< share of the recomputation that saved tensors made unnecessary
  double most = 0;   ///< speed that the rest of the recomputation leaves, over resident, by the times of the pilot
  measurement over_resident;  ///< speed / that of the resident run of the same repeat
};

struct spilling_result {
  byte_count resident_memory;
  measurement resident_over_plain;  ///< speed of Hydra in one shard / that of the plain loop
  std::vector<spilling_cell> cells;
};

spilling_result measure_spilling(const spilling_options& o);

std::string to_table(const spilling_result& r);
nlohmann::ordered_json json_of(const spilling_result& r);

}  // namespace hydra::apps
