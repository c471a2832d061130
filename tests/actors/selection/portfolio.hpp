#pragma once
// Random portfolios of trials, and searches over them in random orders.

#include "actors/selection/search_record.hpp"
#include "runtime/base/portable_random.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace hydra {

/// What would happen to a trial that is never stopped.
struct scripted_trial {
  std::vector<double> scores;  ///< at each rung
  std::size_t fails_at = 0;    ///< it fails on the way to this rung; the number of rungs: never
};

struct portfolio {
  std::vector<std::uint32_t> rungs;  ///< rung_steps()
  std::uint32_t factor = 2;
  std::vector<scripted_trial> trials;

  std::vector<std::string> names() const;  ///< "0", "1", ...
};

/// 1 to 40 trials, 1 to 5 rungs; some fail, some scores are equal, some are not finite.
portfolio random_portfolio(std::uint64_t seed);

/// What is decided for a trial: "7@40 stop 3/9".
using decided = std::set<std::string>;

/// A search: its events in their order with the decisions, and who trained to its end.
struct played_search {
  std::vector<search_record> records;
  decided decisions;  ///< without waits
  std::set<std::string> finished;
  bool stuck = false;  ///< trials wait, and nothing happens any more
};

/// Trials advance in a random order, obey the rule, and report some results twice.
played_search play(search_rule& rule, const portfolio& p, std::uint64_t order);

/// The decisions without waits.
decided decisions_in(const std::vector<search_record>& records);

}  // namespace hydra
