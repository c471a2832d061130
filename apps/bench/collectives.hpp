#pragma once
// What the known ways of an all-reduce send, and how long they take, between the nodes of a cluster.

#include "apps/bench/measurement.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/collective/collective.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace hydra::apps {

struct collectives_options {
  std::vector<std::uint32_t> nodes{2, 4, 8};
  std::uint64_t values = std::uint64_t{4} << 20;  ///< of each node; fp32
  int repeats = 3;
};

struct collectives_row {
  collective_kind kind = collective_kind::direct;
  std::uint32_t nodes = 0;
  std::uint64_t sent = 0;  ///< values that crossed the network, as counted
  std::uint64_t of_all_parties =
      0;  ///< by the formula: a parameter server is a party of its own, here on the last node
  measurement milliseconds{};
  duration predicted{};    ///< from the rates of this machine, which all nodes share
  duration on_gigabits{};  ///< each node on a link of its own with 1 Gbit/s and 200 us
};

struct collectives_result {
  std::uint64_t values = 0;
  duration latency{};          ///< from asking for a value to having it
  double mebibytes_per_s = 0;  ///< at which values of one node come to another
  std::vector<collectives_row> rows{};
};

/// All nodes are in this process, each with a network of its own, TLS over loopback. Throws fault_error{internal} if a
/// sum or a volume is not what it should be.
collectives_result measure_collectives(const collectives_options& o);

std::string to_table(const collectives_result& r);
nlohmann::ordered_json json_of(const collectives_result& r);

}  // namespace hydra::apps
