#include "actors/policy/policy_options.hpp"

namespace hydra {

policy_options complete(const policy_options& given, const std::vector<option>& known, const std::string& policy) {
  return {.seed = given.seed, .values = complete_numbers("policy \"" + policy + '"', given.values, known)};
}

}  // namespace hydra
