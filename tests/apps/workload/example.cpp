#include "tests/apps/workload/example.hpp"

#include <stdexcept>

namespace hydra::apps {

std::string bent(const std::string& part, const std::string& by) {
  std::string text = example;
  const auto at = text.find(part);
  if (at == std::string::npos) throw std::logic_error{"the example has no " + part};
  return text.replace(at, part.size(), by);
}

std::string refusal(const std::string& text) {
  try {
    parse_workload(text, "w.toml");
    return "";
  } catch (const fault_error& e) {
    return e.what_happened().code == fault_code::bad_input ? e.what_happened().text
                                                           : "wrong code: " + e.what_happened().text;
  }
}

}  // namespace hydra::apps
