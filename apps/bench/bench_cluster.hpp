#pragma once
// The workload of the benchmarks on the nodes of a cluster. Coordinator and nodes are in this process, each with an
// actor system of its own, and reach each other over loopback.

#include "actors/cluster/cluster.hpp"
#include "actors/cluster/member.hpp"
#include "actors/selection/search_settings.hpp"
#include "apps/bench/bench_workload.hpp"

#include <filesystem>
#include <future>
#include <optional>
#include <string>

namespace hydra::apps {

/// A node on a thread.
class bench_node {
 public:
  bench_node(int number, const std::string& address, const std::filesystem::path& folder, const bench_workload& w,
             const std::optional<search_settings>& search = {});

 private:
  cluster_network network_;
  cluster_member member_;
  std::future<node_end> end_;
};

/// Its run folder is made.
cluster_workload cluster_work(const bench_workload& w, const std::filesystem::path& folder);

/// So many nodes, which are there before it begins.
report run_on_nodes(int nodes, const bench_workload& w, const std::optional<search_settings>& search = {},
                    search_hooks hooks = {});

}  // namespace hydra::apps
