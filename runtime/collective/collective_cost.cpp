#include "runtime/collective/collective_cost.hpp"

#include <algorithm>
#include <map>

namespace hydra {

namespace {

struct traffic {
  byte_count out{}, in{};
};

duration time_of_round(const std::vector<transfer>& round, std::uint32_t bytes_per_value, const network_rates& rates,
                       std::span<const std::uint32_t> node_of) {
  std::map<std::uint32_t, traffic> nodes;
  byte_count all;
  for (const auto& t : round) {
    const auto from = node_of.empty() ? t.from : node_of[t.from];
    const auto to = node_of.empty() ? t.to : node_of[t.to];
    if (from != to) {
      const auto bytes = byte_count{t.what.count * bytes_per_value};
      nodes[from].out += bytes;
      nodes[to].in += bytes;
      all += bytes;
    }
  }
  if (nodes.empty()) {
    return {};
  }
  byte_count most;
  for (const auto& [node, bytes] : nodes) {
    most = std::max({most, bytes.out, bytes.in});
  }
  return rates.latency + std::max(rates.node.time_for(most), rates.shared.time_for(all));
}

}  // namespace

duration predicted_time(const collective& c, std::uint32_t bytes_per_value, const network_rates& rates,
                        std::span<const std::uint32_t> node_of) {
  duration sum{};
  for (const auto& round : c.rounds) {
    sum += time_of_round(round, bytes_per_value, rates, node_of);
  }
  return sum;
}

}  // namespace hydra
