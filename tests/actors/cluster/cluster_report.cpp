#include "actors/cluster/cluster_record.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <utility>
#include <vector>

using namespace hydra;
using Catch::Contains;

namespace cluster_report_test {

/// Its models' shares of what it has taken.
cluster_node_record node(std::string name, std::vector<std::pair<std::string, expense>> models, expense host) {
  report summary;
  summary.currency = "EUR";
  summary.host_spent = host;
  for (auto& [model, spent] : models) {
    auto& m = summary.models.emplace_back();
    m.name = model;
    m.spent = spent;
    summary.spent = summary.spent + spent;
  }
  cluster_node_record n;
  n.name = std::move(name);
  n.summary = summary;
  return n;
}

TEST_CASE("a cluster has taken what its nodes have, and a model what it has on each of them", "[cluster]") {
  using std::chrono::seconds;
  cluster_node_record gone;
  gone.name = "gone";
  gone.last.spent = sent_expense({seconds{2}, money{30}, 4});
  gone.last.spent_by = {sent_expense({seconds{2}, money{30}, 4}), sent_expense(expense{})};
  cluster_record record;
  record.nodes = {
      node("a", {{"gpt", {seconds{4}, money{100}, 70}}, {"bert", {seconds{6}, money{300}, 30}}}, {{}, money{50}, 10}),
      node("b", {{"gpt", {seconds{5}, money{200}, 20}}, {"bert", {seconds{0}, money{0}, 0}}}, {{}, money{20}, 5}),
      node("c", {{"gpt", {seconds{1}, {}, 7}}, {"bert", {}}}, {}), gone};
  record.models = {cluster_model_record{.name = "gpt"}, cluster_model_record{.name = "bert"}};
  const auto r = build_cluster_report(record, "no such folder");
  CHECK(r.spent == expense{seconds{18}, money{630}, 131});
  CHECK(r.host_spent == expense{{}, money{70}, 15});
  CHECK(r.models[0].spent == expense{seconds{12}, money{330}, 101});
  CHECK(r.models[0].spent + r.models[1].spent == r.spent);
  CHECK(r.currency == "EUR");
  REQUIRE(r.notes.size() == 2);
  CHECK_THAT(r.notes[0], Contains("cost and energy of node gone are what was said last"));
  CHECK_THAT(r.notes[1], Contains("the cost is without node c: devices there have no price"));
}

TEST_CASE("what nodes take without a model to train is divided among all models by their time", "[cluster]") {
  using std::chrono::seconds;
  cluster_record record;
  record.nodes = {node("a", {{"gpt", {seconds{3}, money{300}, 30}}, {"bert", {seconds{1}, money{100}, 10}}}, {}),
                  node("idle", {{"gpt", {seconds{0}, money{0}, 0}}, {"bert", {seconds{0}, money{0}, 0}}}, {})};
  record.nodes[1].summary->spent = {seconds{8}, money{80}, 8};
  record.models = {cluster_model_record{.name = "gpt"}, cluster_model_record{.name = "bert"}};
  record.before = {.all = {seconds{1}, money{7}, 2}, .models = {{"copy-1", {seconds{1}, money{7}, 2}}}};
  const auto r = build_cluster_report(record, "no such folder");
  CHECK(r.spent == expense{seconds{13}, money{487}, 50});
  CHECK(r.before == expense{seconds{1}, money{7}, 2});
  CHECK(r.gone == r.before);
  CHECK(r.models[0].spent == expense{seconds{9}, money{360}, 36});
  CHECK(r.models[0].spent + r.models[1].spent + r.gone == r.spent);
}

}  // namespace cluster_report_test
