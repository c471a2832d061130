#pragma once
// Layers in pieces, one model with one micro-batch: the memory that a device needs, what a smaller device costs, and
// how much faster several devices are that compute the pieces of a layer at the same time.

#include "apps/bench/bench_workload.hpp"
#include "apps/bench/measurement.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace hydra::apps {

struct piece_scaling_options {
  std::vector<int> devices{2, 4};
  int repeats = 3;
  bench_workload workload{.steps = 6,
                          .layers = 8,
                          .width = 768,
                          .batch_size = 8,
                          .pieces = 4,
                          .forward = std::chrono::milliseconds(40),
                          .paced_output = false,  // it stays whole
                          .validation_samples = 0};
};

struct piece_scaling_row {
  std::uint32_t pieces = 1;
  bool side_by_side = false;
  int devices = 1;
  byte_count memory{};       ///< of each; 0: not limited
  measurement speed_up{};    ///< over whole layers, the first row, in the same repeat
  measurement over_bound{};  ///< makespan / bound
  measurement utilisation{};
};

/// One device with the smallest sufficient memory: whole layers, then pieces in turn. Memory not limited: in turn, then
/// side by side.
struct piece_scaling_result {
  std::vector<piece_scaling_row> rows;
};

/// Throws fault_error{internal} if the parameters of one number of pieces depend on who computes them.
piece_scaling_result measure_piece_scaling(const piece_scaling_options& o);

std::string to_table(const piece_scaling_result& r);
nlohmann::ordered_json json_of(const piece_scaling_result& r);

}  // namespace hydra::apps
