#pragma once
// Runs a study: every policy on every instance of every cell.

#include "apps/simulate/comparison.hpp"
#include "apps/simulate/study_file.hpp"

#include <functional>
#include <string>
#include <vector>

namespace hydra::apps {

/// Makespan / best bound over the instances of a cell.
struct ratio_summary {
  double mean = 0;
  double least = 0;
  double most = 0;
};

/// The results of all policies of a cell with one driver. `runs` has a comparison for each instance, its rows in the
/// order of the cell's policies.
struct cell_result {
  std::string name;
  std::string note;
  std::string driver;
  std::vector<std::string> policies;
  std::vector<comparison> runs;

  ratio_summary of(std::size_t policy) const;
  ratio_summary yardstick() const;
};

struct study_result {
  std::string name;
  std::string note;
  std::vector<std::string> policies;
  std::vector<cell_result> cells;  ///< of each cell one result for each driver
};

/// "CELL, INSTANCE, DRIVER: policy X was replaced by sharded-lrtf: ...": the remarks on all rows.
std::vector<std::string> remarks_of(const study_result& s);

/// Calls `reported` with a line before each cell. The same study gives the same result.
study_result run_study(const study& s, const std::function<void(const std::string&)>& reported);

}  // namespace hydra::apps
