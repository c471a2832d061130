#pragma once
// The smallest makespan of a small instance, by a search through all answers that a policy could give.

#include "actors/policy/policy.hpp"
#include "actors/simulation/instance.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace hydra {

struct optimum_options {
  std::uint64_t most_nodes = 30'000'000;    ///< decisions looked at; about 1.5 us each
  std::uint64_t most_states = 1u << 23;     ///< remembered, of 24 bytes each
};

/// A unit of the model was staged.
struct staging_decision {
  duration at{};                            ///< since the start of the run
  std::uint32_t device = 0;
  std::uint32_t model = 0;
};

struct optimum {
  duration makespan{};                      ///< the smallest one that was found
  bool proven = false;                      ///< no policy has a smaller one; else the search has ended before that
  std::uint64_t nodes = 0;
  std::vector<staging_decision> decisions;  ///< with which it is reached, in their order
};

/// Units of an instance with which the search can be expected to end.
inline constexpr std::uint64_t most_units_searched = 64;

/// Throws fault_error{bad_input} for an instance that is beyond_small_schedule() or has more units.
void require_searchable(const schedule_instance& instance);

/// By the rules of `completion_rule::ended`. Deterministic. Throws what validate() and require_searchable() throw.
optimum find_optimum(const schedule_instance& instance, const optimum_options& options = {});

/// A policy that takes these decisions when their times come, and nothing else.
std::unique_ptr<policy> replay(std::vector<staging_decision> decisions);

}  // namespace hydra
