#include "actors/policy/policy_options.hpp"

#include <variant>

namespace hydra {

policy_options complete(const policy_options& given, const std::vector<option>& known, const std::string& policy) {
  policy_options all{.seed = given.seed};
  for (const auto& [name, value] : complete("policy \"" + policy + '"', {given.values.begin(), given.values.end()}, known)) {
    all.values.emplace(name, std::get<double>(value));
  }
  return all;
}

}  // namespace hydra
