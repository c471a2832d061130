#include "actors/cluster/cluster_expenses.hpp"

#include "actors/cluster/cluster_record.hpp"
#include "actors/report/expenses.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

namespace hydra {

namespace {

shared_expense said_by(const cluster_node_record& n, const std::vector<cluster_model_record>& models) {
  if (n.summary) {
    shared_expense s{.all = n.summary->spent};
    for (const auto& m : n.summary->models) {
      s.models[m.name] = m.spent;
    }
    return s;
  }
  shared_expense s{.all = n.last.spent.value()};
  for (std::size_t i = 0; i < std::min(models.size(), n.last.spent_by.size()); ++i) {
    s.models[models[i].name] = n.last.spent_by[i].value();
  }
  return s;
}

/// What is left of it besides the parts.
expense rest_of(const expense& all, const shared_expense& parts) {
  expense sum;
  for (const auto& [model, spent] : parts.models) {
    sum = sum + spent;
  }
  auto rest = all;
  rest.time -= sum.time;
  if (rest.cost) {
    rest.cost->ten_thousandths -= sum.cost.value_or(money{}).ten_thousandths;
  }
  if (rest.joules) {
    *rest.joules -= sum.joules.value_or(0);
  }
  return rest;
}

}  // namespace

shared_expense expenses_of(const cluster_record& record) {
  shared_expense sum;
  for (const auto& n : record.nodes) {
    sum = sum + said_by(n, record.models);
  }
  std::vector<double> times;
  std::ranges::transform(record.models, std::back_inserter(times),
                         [&sum](const auto& m) { return seconds(sum.of(m.name).time); });
  std::vector<expense> shares(times.size());
  divide(rest_of(sum.all, sum), times, times, shares);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    auto& model = sum.models[record.models[i].name];
    model = model + shares[i];
  }
  sum.gaps = {};  // nodes without prices are named in a note
  return sum;
}

std::string currency_of(const cluster_record& record) {
  for (const auto& n : record.nodes) {
    const auto& said = n.summary ? n.summary->currency : n.last.currency;
    if (!said.empty()) {
      return said;
    }
  }
  return {};
}

}  // namespace hydra
