#pragma once
// What is searched. Standard library only.

#include "actors/selection/search_rule.hpp"
#include "actors/selection/search_space.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace hydra {

enum class search_kind : std::uint8_t { grid, random, halving, hyperband, asha, pbt, own };

/// Which figure of an evaluation ranks trials.
enum class search_metric : std::uint8_t {
  validation,  ///< the loss, to be minimised
  accuracy,    ///< to be maximised
};

struct search_trial {
  std::string name;
  std::vector<key_value> keys{};  ///< that the search varies
};

struct search_settings;
using search_rule_maker = std::function<std::unique_ptr<search_rule>(const search_settings&)>;

struct search_settings {
  search_kind kind = search_kind::random;
  search_metric metric = search_metric::validation;
  std::vector<search_trial> trials{};  ///< in the order of the workload
  std::uint32_t steps = 0;             ///< of each trial; 0: not known, and no rule needs it
  std::uint32_t first = 0;             ///< steps to the first rung of halving, hyperband and asha
  std::uint32_t factor = 3;            ///< 1 of so many goes on at a rung, and the next rung is so many times as far
  std::uint32_t every = 0;             ///< steps between the comparisons of pbt
  std::uint64_t seed = 0;
  std::vector<searched_key> space{};  ///< empty: the trials were not drawn
  std::string own{};                  ///< name of a rule that Hydra does not have itself, of kind `own`
  search_rule_maker make{};           ///< of that; null where only its results are read
  std::map<std::string, double> options{};  ///< of that
};

/// "halving".
std::string to_string(search_kind kind);
/// The same, of kind `own` the rule's.
std::string name_of(const search_settings& settings);
std::string to_string(search_metric metric);

}  // namespace hydra
