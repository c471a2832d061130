#include "apps/bench/collectives.hpp"

#include "actors/cluster/exchange.hpp"
#include "actors/cluster/network.hpp"
#include "actors/report/text_table.hpp"
#include "apps/bench/scratch_folder.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/collective/collective_cost.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace hydra::apps {

namespace {

using namespace std::chrono_literals;
using hydra::to_string;

constexpr double mebi = 1 << 20;
constexpr std::uint32_t model = 0;
constexpr auto longest = 120s;

/// Numbers whose sum depends on the order.
void fill(std::span<float> values, std::uint32_t node) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto bits = static_cast<std::uint32_t>((i + 1) * (2 * node + 2654435761ULL));
    values[i] = std::ldexp(static_cast<float>(bits & 0xffffff) - 8e6F, static_cast<int>(bits >> 24) % 20);
  }
}

/// Nodes that add by one kind of collective, one replica each.
class nodes {
 public:
  nodes(std::uint32_t n, collective_kind kind, const cluster_keys& keys) {
    formed_team team{.model = model, .name = "values", .epoch = 1};
    for (std::uint32_t i = 0; i < n; ++i) {
      networks_.push_back(std::make_unique<cluster_network>(keys, add_cluster_messages));
      exchanges_.push_back(std::make_unique<node_exchange>(
          *networks_.back(), [](auto...) {}, kind));
      team.members.push_back({exchanges_.back()->listen("127.0.0.1"), 1});
    }
    on_all([&](std::uint32_t i, const std::function<void(const fault&)>& done) {
      auto of_node = team;
      of_node.here = i;
      exchanges_[i]->form(of_node, [done] { done({}); });
      exchanges_[i]->ready(model, 1, 0);
    });
  }

  /// In place.
  void add(std::span<std::vector<float>> values) { exchange(values, true); }

  /// From the first node to all others.
  void broadcast(std::span<std::vector<float>> values) { exchange(values, false); }

  std::uint64_t sent() const {
    std::uint64_t sum = 0;
    for (const auto& e : exchanges_) sum += e->totals().sent.value();
    return sum;
  }

 private:
  void exchange(std::span<std::vector<float>> values, bool adds) {
    const auto number = ++numbers_;
    on_all([&](std::uint32_t i, const std::function<void(const fault&)>& done) {
      partner_exchange e{.model = "values",
                         .team = 1,
                         .number = number,
                         .adds = adds,
                         .replicas = std::vector<std::span<float>>(values.size()),
                         .done = done};
      e.replicas[adds ? i : 0] = values[i];
      exchanges_[i]->exchange(std::move(e));
    });
  }

  template <class Begin>
  void on_all(Begin begin) {
    std::vector<std::future<fault>> done;
    for (std::uint32_t i = 0; i < exchanges_.size(); ++i) {
      const auto one = std::make_shared<std::promise<fault>>();
      done.push_back(one->get_future());
      begin(i, [one](const fault& why) { one->set_value(why); });
    }
    for (auto& answer : done) {
      if (answer.wait_for(longest) != std::future_status::ready)
        throw fault_error{fault_code::internal, "nothing comes"};
      if (const fault why = answer.get()) throw fault_error{why};
    }
  }

  std::uint64_t numbers_ = 0;
  std::vector<std::unique_ptr<cluster_network>> networks_;
  std::vector<std::unique_ptr<node_exchange>> exchanges_;
};

/// A parameter server is on the last node.
std::vector<std::uint32_t> places(const collective& c) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t party = 0; party < c.parties; ++party) all.push_back(std::min(party, c.summands - 1));
  return all;
}

network_rates measure_rates(const collectives_options& o, const cluster_keys& keys) {
  nodes pair{2, collective_kind::direct, keys};
  std::vector<std::vector<float>> few(2, std::vector<float>(1)), many(2, std::vector<float>(o.values));
  double latency = 1e9, rate = 0;
  pair.broadcast(few);
  for (int i = 0; i < 200; ++i) latency = std::min(latency, seconds_of([&] { pair.broadcast(few); }));
  for (int i = 0; i < 5; ++i) {
    const double taken = seconds_of([&] { pair.broadcast(many); }) - latency;
    rate = std::max(rate, static_cast<double>(o.values * sizeof(float)) / taken);
  }
  return {.latency = from_seconds(latency), .node = byte_rate{rate}, .shared = byte_rate{rate}};
}

void check(bool holds, collective_kind kind, const char* what) {
  if (!holds) throw fault_error{fault_code::internal, fmt::format("{}: {}", to_string(kind), what)};
}

collectives_row measure(collective_kind kind, std::uint32_t n, const collectives_options& o, const network_rates& rates,
                        const cluster_keys& keys) {
  const auto c = make_collective(kind, n, o.values);
  const auto on = places(c);
  collectives_row row{.kind = kind, .nodes = n, .of_all_parties = sent_values(c)};
  row.predicted = predicted_time(c, sizeof(float), rates, on);
  row.on_gigabits = predicted_time(c, sizeof(float), {.latency = 200us, .node = byte_rate{125e6}, .shared = {}}, on);
  nodes all{n, kind, keys};
  std::vector<std::vector<float>> values(n, std::vector<float>(o.values));
  std::vector<float> sum(o.values);
  for (int i = -1; i < o.repeats; ++i) {  // the first time is not counted
    for (std::uint32_t node = 0; node < n; ++node) fill(values[node], node);
    fill(sum, 0);
    for (std::uint32_t node = 1; node < n; ++node) std::ranges::transform(sum, values[node], sum.begin(), std::plus{});
    const auto before = all.sent();
    const double taken = seconds_of([&] { all.add(values); });
    row.sent = (all.sent() - before) / sizeof(float);
    if (i >= 0) row.milliseconds.values.push_back(1e3 * taken);
    check(row.sent == sent_values(c, on), kind, "another volume than its rounds have");
    check(std::ranges::all_of(values, [&](const auto& v) { return v == values[0]; }), kind,
          "nodes have different sums");
    check(!adds_in_order(kind) || values[0] == sum, kind, "not the sum in the order of the nodes");
  }
  return row;
}

/// As in the lecture: for N parties with M values.
std::string formula(collective_kind kind) {
  switch (kind) {
    case collective_kind::direct:
    case collective_kind::ring:
    case collective_kind::tree:
      return "2 (N - 1) M";
    case collective_kind::butterfly:
      return "N M log N";
    case collective_kind::naive:
      return "N (N - 1) M";
    case collective_kind::parameter_server:
      return "2 N M";
  }
  return "";
}

std::string in_lecture(collective_kind kind) {
  switch (kind) {
    case collective_kind::direct:
      return "-";
    case collective_kind::butterfly:
      return "N M log N";
    case collective_kind::naive:
      return "N^2 M";
    default:
      return "2 N M";
  }
}

std::string times_m(std::uint64_t values, std::uint64_t of) {
  return fmt::format("{:g} M", static_cast<double>(values) / static_cast<double>(of));
}

}  // namespace

collectives_result measure_collectives(const collectives_options& o) {
  const scratch_folder scratch{"bench-collectives"};
  make_cluster_keys(scratch.path() / "keys");
  const cluster_keys keys = cluster_keys::in(scratch.path() / "keys");
  const network_rates rates = measure_rates(o, keys);
  collectives_result r{.values = o.values, .latency = rates.latency, .mebibytes_per_s = rates.node.per_second() / mebi};
  for (const auto n : o.nodes)
    for (const auto kind : all_collective_kinds()) r.rows.push_back(measure(kind, n, o, rates, keys));
  return r;
}

std::string to_table(const collectives_result& r) {
  text_table t{{{"all-reduce"},
                {"nodes", alignment::right},
                {"volume"},
                {"lecture"},
                {"of all parties", alignment::right},
                {"over the network", alignment::right},
                {"ms", alignment::right},
                {"predicted", alignment::right},
                {"at 1 Gbit/s", alignment::right},
                {"bits"}}};
  for (const auto& row : r.rows) {
    t.add({std::string{to_string(row.kind)}, std::to_string(row.nodes), formula(row.kind), in_lecture(row.kind),
           times_m(row.of_all_parties, r.values), times_m(row.sent, r.values), to_string(row.milliseconds),
           fmt::format("{:.1f}", 1e3 * seconds(row.predicted)), fmt::format("{:.0f}", 1e3 * seconds(row.on_gigabits)),
           adds_in_order(row.kind) ? "of one process" : "of kind and N"});
  }
  return fmt::format(
             "M = {} values of each node, TLS over loopback: {} to ask for one, {:.0f} MiB/s from one node to "
             "another\n\n",
             r.values, to_string(r.latency), r.mebibytes_per_s) +
         t.to_string();
}

nlohmann::ordered_json json_of(const collectives_result& r) {
  nlohmann::ordered_json j{
      {"values", r.values}, {"latency_us", 1e6 * seconds(r.latency)}, {"mebibytes_per_s", r.mebibytes_per_s}};
  for (const auto& row : r.rows) {
    j["rows"].push_back({{"kind", to_string(row.kind)},
                         {"nodes", row.nodes},
                         {"values_of_all_parties", row.of_all_parties},
                         {"values_over_the_network", row.sent},
                         {"ms", json_of(row.milliseconds)},
                         {"predicted_ms", 1e3 * seconds(row.predicted)},
                         {"at_1_gbit_ms", 1e3 * seconds(row.on_gigabits)}});
  }
  return j;
}

}  // namespace hydra::apps
