#include "actors/selection/search_ranking.hpp"

#include "actors/selection/search_rules.hpp"
#include "tests/actors/selection/portfolio.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>

using namespace hydra;

namespace search_ranking_test {

search_settings settings_of(search_kind kind, const std::vector<std::string>& names) {
  search_settings s{.kind = kind, .steps = 40, .first = 10, .factor = 2};
  for (const std::string& name : names) s.trials.push_back({name});
  return s;
}

/// What the search records of these events.
std::vector<search_record> records_of(const search_settings& s, const std::vector<search_event>& events) {
  const auto rule = make_search_rule(s);
  std::vector<search_record> records;
  for (const search_event& e : events) records.push_back(decide(*rule, e));
  return records;
}

/// "c@40, a@20 stopped at rung 2: 2nd of 2, 1 continues".
std::string told(const search_ranking& r) {
  std::string text;
  for (const ranked_trial& t : r.trials)
    text += (text.empty() ? "" : ", ") + t.is.name + "@" + std::to_string(t.steps) + (t.reason.empty() ? "" : " ") +
            t.reason;
  return text;
}

std::string ranked(const search_settings& s, const std::vector<search_event>& events) {
  return told(rank_trials(s, records_of(s, events)));
}

trial_result at(const char* trial, std::uint32_t steps, double score) { return {trial, steps, score}; }

const search_settings halving_of_four = settings_of(search_kind::halving, {"a", "b", "c", "d"});
const std::vector<search_event> whole_search{at("a", 10, 1), at("b", 10, 2), at("c", 10, 3), at("d", 10, 4),
                                             at("a", 20, 9), at("b", 20, 8), at("b", 30, 5), at("b", 40, 7)};

TEST_CASE("trials are ranked by the last rung before their scores, and say why they stopped", "[selection]") {
  CHECK(ranked(halving_of_four, whole_search) ==
        "b@40, a@20 stopped at rung 2: 2nd of 2, 1 continues, c@10 stopped at rung 1: 3rd of 4, 2 continue, "
        "d@10 stopped at rung 1: 4th of 4, 2 continue");
}

TEST_CASE("the score is that of the last rung, not of an evaluation after it", "[selection]") {
  const auto until = [](std::size_t events) {
    const std::vector part(whole_search.begin(), whole_search.begin() + static_cast<std::ptrdiff_t>(events));
    return *rank_trials(halving_of_four, records_of(halving_of_four, part)).trials.front().score;
  };
  CHECK(until(7) == 8);
  CHECK(until(8) == 7);
}

TEST_CASE("a ranking tells what the search does, what varies and how long a trial is", "[selection]") {
  search_settings s = halving_of_four;
  s.metric = search_metric::accuracy;
  s.trials[3].keys = {{"optimizer.learning_rate", "1e-4"}};
  const search_ranking r = rank_trials(s, {});
  CHECK(r.rule == "halving: 4 trials; 1 of 2 goes on after 10 and 20 of 40 steps");
  CHECK(r.metric == search_metric::accuracy);
  CHECK(r.steps == 40);
  CHECK(told(r) == "a@0, b@0, c@0, d@0");
  CHECK(r.trials[3].is.keys == s.trials[3].keys);
  CHECK_FALSE(r.trials[0].score);
}

TEST_CASE("a trial waits at its rung until it is decided or has ended", "[selection]") {
  const std::vector<search_event> waiting{at("c", 10, 1), at("d", 10, 2)};
  CHECK(ranked(halving_of_four, waiting) == "c@10 waits at rung 1, d@10 waits at rung 1, a@0, b@0");
  std::vector<search_event> ended = waiting;
  ended.push_back(trial_ended{"c"});
  CHECK(ranked(halving_of_four, ended) == "c@10, d@10 waits at rung 1, a@0, b@0");
}

TEST_CASE("what is reported again, as after a resume, changes no ranking", "[selection]") {
  std::vector<search_event> twice = whole_search;
  twice.insert(twice.end(), whole_search.begin(), whole_search.end());
  CHECK(ranked(halving_of_four, twice) == ranked(halving_of_four, whole_search));
  auto records = records_of(halving_of_four, whole_search);
  records.push_back({at("stranger", 40, 0), {{"stranger", 40, trial_verdict::stop, 1, 2}}});
  CHECK(told(rank_trials(halving_of_four, records)) == ranked(halving_of_four, whole_search));
}

TEST_CASE("a search that decides as results arrive says which ones had arrived", "[selection]") {
  CHECK(ranked(settings_of(search_kind::asha, {"a", "b", "c", "d"}),
               {at("a", 10, 1), at("b", 10, 2), at("c", 10, 3), at("d", 10, 1.5)}) ==
        "a@10, d@10, b@10 stopped at rung 1: 3rd of the first 4, c@10 stopped at rung 1: 3rd of the first 3");
}

TEST_CASE("a copy takes its place in the ranking, and the trial that it replaces says so", "[selection]") {
  search_settings s{.kind = search_kind::pbt, .trials = {{"a"}, {"b"}, {"c"}, {"d"}}, .steps = 40, .every = 10};
  s.space = {{"rate", distribution::uniform, 0, 1}};
  const std::vector<search_event> events{at("a", 10, 1), at("b", 10, 2), at("c", 10, 3), at("d", 10, 4),
                                         at("b", 20, 5)};
  CHECK(ranked(s, events) ==
        "b@20 waits after 20 steps, a@10, c@10, d@10 stopped after 10 steps: 4th of 4, 3 continue; d.pbt2, from a, "
        "took its place, d.pbt2@0");
  const search_ranking r = rank_trials(s, records_of(s, events));
  CHECK(r.trials.back().is.keys.size() == 1);
}

TEST_CASE("a score that is not finite is the worst of its rung, and of equal ones the first of the workload is better",
          "[selection]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(ranked(halving_of_four, {at("d", 10, 3), at("c", 10, nan), at("b", 10, 3), trial_ended{"a"}}) ==
        "b@10, d@10, c@10 stopped at rung 1: 3rd of 3, 2 continue, a@0");
}

TEST_CASE("without rungs the last score counts, after however many steps", "[selection]") {
  const search_settings s{.kind = search_kind::random, .trials = {{"a"}, {"b"}, {"c"}}};
  const std::vector<search_record> last{{at("a", 50, 2), {}}, {at("c", 20, 1), {}}};
  const search_ranking r = rank_trials(s, last);
  CHECK(told(r) == "c@20, a@50, b@0");
  CHECK(r.rule == "random: 3 trials");
}

TEST_CASE("in every order of events halving and hyperband rank alike, for the same reasons", "[selection]") {
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    for (const search_kind kind : {search_kind::halving, search_kind::hyperband}) {
      const portfolio p = random_portfolio(seed);
      search_settings s{.kind = kind, .steps = p.rungs.back(), .first = p.rungs.front(), .factor = p.factor};
      for (const std::string& name : p.names()) s.trials.push_back({name});
      const auto ranking_in = [&](std::uint64_t order) {
        return told(rank_trials(s, play(*make_search_rule(s), p, order).records));
      };
      CAPTURE(seed);
      const std::string first = ranking_in(0);
      for (std::uint64_t order = 1; order < 5; ++order) REQUIRE(ranking_in(order) == first);
    }
}

}  // namespace search_ranking_test
