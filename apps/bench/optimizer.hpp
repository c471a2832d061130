#pragma once
// How fast the host's AdamW is: beside a loop that only reads, changes and writes the same memory, and beside two of
// LibTorch.

#include "apps/bench/measurement.hpp"
#include "runtime/base/bytes.hpp"

#include <string>
#include <vector>

namespace hydra::apps {

struct optimizer_bench_options {
  std::vector<byte_count> sizes{byte_count{256 << 10}, byte_count{16 << 20}, byte_count{128 << 20},
                                byte_count{1 << 30}};
  std::vector<int> threads{1, 2};
  int repeats = 3;
  double seconds_each = 0.2;  ///< of one measurement, at least one step
};

/// Steps of `parameters` bytes of fp32 parameters: gradients are read, parameters and two moments are read and written.
struct optimizer_cell {
  byte_count parameters;
  int threads = 1;
  bool beside_device = false;  ///< another thread computes products of matrices meanwhile, as a virtual device does
  measurement gigabytes{};     ///< per second, that the loop moves
  measurement over_loop{};     ///< speed of Hydra's AdamW / that of the loop, in the same repeat
  measurement over_fused{};    ///< / that of at::_fused_adamw_
  measurement over_torch{};    ///< / that of torch::optim::AdamW
};

std::vector<optimizer_cell> measure_optimizer(const optimizer_bench_options& o);

std::string to_table(const std::vector<optimizer_cell>& cells);
std::string to_json(const std::vector<optimizer_cell>& cells, const machine_description& on);

}  // namespace hydra::apps
