#include "apps/bench/bench_cluster.hpp"

#include "actors/cluster/asked_search.hpp"
#include "actors/run/search_setup.hpp"
#include "apps/bench/scratch_folder.hpp"

#include <fmt/format.h>

#include <list>
#include <memory>
#include <utility>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

session_maker maker(const bench_workload& w, const std::optional<search_settings>& search) {
  return [w, search](const node_accepted&, const node_place& place) {
    auto s = std::make_unique<session>(session_options{.seed = 7,
                                                       .name = "bench",
                                                       .output = place.output,
                                                       .log = verbosity::quiet,
                                                       .begin_paused = true,
                                                       .keep_parameters = false});
    fill(*s, w);
    if (search) s->use_search(asked_search(*search, place.evaluated));
    return s;
  };
}

}  // namespace

bench_node::bench_node(int number, const std::string& address, const fs::path& folder, const bench_workload& w,
                       const std::optional<search_settings>& search)
    : network_{cluster_keys::in(keys_of_run(folder / "run")), add_cluster_messages},
      member_{{.name = fmt::format("node-{}", number), .folder = folder / std::to_string(number)}, maker(w, search)},
      end_{std::async(std::launch::async,
                      [this, address] { return member_.join(network_, [&] { return parse_address(address); }); })} {}

cluster_workload cluster_work(const bench_workload& w, const fs::path& folder) {
  cluster_workload all{.run = 1, .name = "bench", .folder = folder};
  for (int i = 0; i < w.models; ++i) all.models.push_back(fmt::format("model-{}", i));
  fs::create_directories(folder);
  return all;
}

report run_on_nodes(int nodes, const bench_workload& w, const std::optional<search_settings>& search,
                    search_hooks hooks) {
  const scratch_folder scratch{"bench-nodes"};
  cluster_workload work = cluster_work(w, scratch.path() / "run");
  if (search) work.search = make_search(*search, std::move(hooks), {});
  cluster c{std::move(work), {.nodes = static_cast<std::size_t>(nodes)}};
  std::list<bench_node> all;
  for (int i = 1; i <= nodes; ++i) all.emplace_back(i, c.address(), scratch.path(), w, search);
  return c.run();
}

}  // namespace hydra::apps
