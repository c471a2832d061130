#pragma once
// Random scheduling instances, those of the scheduling study (apps/studies/README.md). The same recipe gives the
// same instance on every platform.

#include "actors/simulation/instance.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

enum class instance_family : std::uint8_t {
  equal,   ///< models of 6 equal shards
  hetero,  ///< 2 to 12 shards, lengths within 1:8, shards within 0.7 to 1.3 of their model's mean
  skewed,  ///< 2 to 16 shards, lengths within 1:100
  paper,   ///< 10 equal shards, forward as long as backward, no transfers: the set-up of the paper's simulation
};

/// As users write them, in the order of instance_family.
inline constexpr std::array<std::string_view, 4> names_of_families{"equal", "hetero", "skewed", "paper"};

/// The most that a recipe may ask for.
struct recipe_limits {
  static constexpr std::uint32_t models = 100000;
  static constexpr std::uint32_t devices = 10000;
  static constexpr std::uint32_t units = 10000000;
  static constexpr double ratio = 1000;  ///< rho, optimizer, length, arrivals, hours
};

/// How to make an instance. Times are scaled so that the mean of (forward + backward) / 2 over all shards is 2000 us
/// (`paper`: to the hours of each model).
struct instance_recipe {
  instance_family family = instance_family::hetero;
  std::uint32_t models = 12;
  std::vector<double> speeds = std::vector<double>(8, 1.0);  ///< of the devices
  double rho = 0;        ///< copy of a shard / mean of (forward + backward) / 2; 0: no transfers
  double frozen =
      0;  ///< `equal`: share of a shard's copy that are frozen parameters, its base; 0: none, else above 0.5
  bool share = true;     ///< all models have one base: fine-tunings of one model
  double optimizer = 0;  ///< update of a shard / copy of it
  double length = 1;     ///< factor of the models' number of steps
  std::uint32_t slots = 2;
  bool prefetch = true;
  std::uint32_t depth = 0;  ///< units staged at once; 0: as many as there are slots for, at most 8
  bool copy_back_clean = false;
  std::uint32_t host_workers = 1;
  double noise = 0;
  double arrivals = 0;         ///< models arrive within this share of the work bound, uniformly
  double deadlines = 0;        ///< each model's: its arrival, and so many times its time alone (the rule of total work
                               ///< content); 0: none
  std::uint32_t failures = 0;  ///< devices that die, within the work bound, uniformly
  double hours = 2;            ///< `paper`: each model's; 0: 0.5 to 4
  std::uint32_t units = 2000;  ///< `paper`: of each model; 0: 100 to 10000
  std::uint64_t seed = 0;
};

/// "hetero:models=24,rho=0.5,seed=3": what differs from the defaults.
std::string to_string(const instance_recipe& recipe);

/// Throws fault_error{bad_input} that names the key of a value that is not possible.
void validate(const instance_recipe& recipe);

/// A valid instance named after its recipe, with the measured `remaining_scale`. Throws what
/// validate() throws.
schedule_instance generate(const instance_recipe& recipe);

}  // namespace hydra
