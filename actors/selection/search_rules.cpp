#include "actors/selection/search_rules.hpp"

#include "actors/selection/asha.hpp"
#include "actors/selection/halving.hpp"
#include "actors/selection/hyperband.hpp"
#include "actors/selection/pbt.hpp"
#include "actors/selection/rungs.hpp"
#include "runtime/base/refuse.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace hydra {

namespace {

std::vector<std::string> names_of(const search_settings& s) {
  std::vector<std::string> names;
  std::ranges::transform(s.trials, std::back_inserter(names), &search_trial::name);
  return names;
}

template <class Rule>
std::unique_ptr<search_rule> make_with_rungs(const search_settings& s) {
  return std::make_unique<Rule>(names_of(s), rung_steps(s.first, s.factor, s.steps), s.factor);
}

std::unique_ptr<search_rule> make_pbt(const search_settings& s) { return std::make_unique<pbt>(s); }

std::unique_ptr<search_rule> make_own(const search_settings& s) {
  if (!s.make) refuse("search: a rule of one's own needs search_settings::make");
  return s.make(s);
}

struct row {
  search_kind kind;
  const char* name;
  std::unique_ptr<search_rule> (*make)(const search_settings&);  ///< null: there is no rule
  bool as_results_arrive = false;
};

constexpr std::array rows{row{search_kind::grid, "grid", nullptr},
                          row{search_kind::random, "random", nullptr},
                          row{search_kind::halving, "halving", make_with_rungs<halving>},
                          row{search_kind::hyperband, "hyperband", make_with_rungs<hyperband>},
                          row{search_kind::asha, "asha", make_with_rungs<asha>, true},
                          row{search_kind::pbt, "pbt", make_pbt},
                          row{search_kind::own, "own", make_own, true}};

const row& row_of(search_kind kind) { return *std::ranges::find(rows, kind, &row::kind); }

}  // namespace

std::string to_string(search_kind kind) { return row_of(kind).name; }

std::string name_of(const search_settings& s) { return s.kind == search_kind::own ? s.own : to_string(s.kind); }

std::string to_string(search_metric metric) { return metric == search_metric::accuracy ? "accuracy" : "validation"; }

std::unique_ptr<search_rule> make_search_rule(const search_settings& settings) {
  const auto make = row_of(settings.kind).make;
  return make ? make(settings) : nullptr;
}

bool has_rule(search_kind kind) { return row_of(kind).make != nullptr; }

std::uint32_t evaluation_interval(const search_settings& settings) {
  if (!has_rule(settings.kind)) return 0;
  return settings.kind == search_kind::pbt ? settings.every : settings.first;
}

bool decides_as_results_arrive(search_kind kind) { return row_of(kind).as_results_arrive; }

}  // namespace hydra
