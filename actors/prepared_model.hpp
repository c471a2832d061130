#pragma once
// From a user's description to a model that can be planned: data opened, chain built, layers measured.

#include "actors/run_setup.hpp"
#include "actors/session.hpp"
#include "models/chain.hpp"
#include "partition/profile.hpp"

#include <map>
#include <memory>
#include <string>

namespace hydra {

struct prepared_model {
  std::shared_ptr<const chain> model;
  std::shared_ptr<const chain_profile> profile;
  model_data data;
  std::uint32_t steps = 0;
  std::uint32_t evaluation = 0;   ///< micro-batches of an evaluation
};

/// Measures each distinct chain once: models of a grid share their profile.
class model_preparer {
 public:
  explicit model_preparer(std::uint64_t seed) : seed_(seed) {}

  /// Throws fault_error{bad_input} naming the model and what does not fit together.
  prepared_model prepare(const model_description& m);
  /// Time spent measuring.
  duration pilot_time() const noexcept { return pilot_time_; }

 private:
  std::shared_ptr<const chain_profile> profile_of(const chain& model, const tensor_spec& target, std::int64_t samples);

  std::uint64_t seed_;
  std::map<std::string, std::shared_ptr<const chain_profile>> profiles_;
  duration pilot_time_{};
};

/// Throws fault_error{bad_input} for impossible values, naming model and key.
void validate(const model_description& m);

}  // namespace hydra
