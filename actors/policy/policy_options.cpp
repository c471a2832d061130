#include "actors/policy/policy_options.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/base/nearest.hpp"

#include <algorithm>
#include <iterator>
#include <sstream>

namespace hydra {

namespace {

std::string as_text(double v) {
  std::ostringstream out;
  out.precision(15);
  out << v;
  return out.str();
}

[[noreturn]] void refuse_name(const std::string& name, const std::vector<policy_option>& known, const std::string& policy) {
  std::vector<std::string> names;
  std::ranges::transform(known, std::back_inserter(names), &policy_option::name);
  throw fault_error{fault_code::bad_input,
                    "policy \"" + policy + "\" has no option \"" + name + "\"" + known_instead(name, names)};
}

void check_value(double v, const policy_option& o, const std::string& policy) {
  if (v >= o.least && v <= o.most) {
    return;  // not a NaN
  }
  throw fault_error{fault_code::bad_input, "policy \"" + policy + "\": option " + o.name + ": " + as_text(v) +
                                               " is impossible; use " + as_text(o.least) + " to " + as_text(o.most)};
}

}  // namespace

policy_options complete(policy_options given, const std::vector<policy_option>& known, const std::string& policy) {
  for (const auto& [name, v] : given.values) {
    const auto found = std::ranges::find(known, name, &policy_option::name);
    if (found == known.end()) {
      refuse_name(name, known, policy);
    }
    check_value(v, *found, policy);
  }
  for (const auto& o : known) {
    given.values.try_emplace(o.name, o.standard);
  }
  return given;
}

}  // namespace hydra
