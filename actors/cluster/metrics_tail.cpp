#include "actors/cluster/metrics_tail.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/regular_file.hpp"

#include <nlohmann/json.hpp>

#include <exception>
#include <sstream>

namespace hydra {

namespace {

std::string model_of(const std::string& line) try {
  return parse_ordered_json(line).at("model").get<std::string>();
} catch (const std::exception&) {
  return {};
}

}  // namespace

std::string metrics_tail::read(const std::set<std::string>& without, std::size_t most) {
  auto text = whole_lines(most);
  if (without.empty()) {
    return text;
  }
  std::istringstream in(text);
  std::string kept;
  for (std::string line; std::getline(in, line);) {
    kept += without.contains(model_of(line)) ? "" : line + "\n";
  }
  return kept;
}

/// Nothing while the file is not there yet, or cannot be read.
std::string metrics_tail::whole_lines(std::size_t most) try {
  std::string text(most, '\0');
  text.resize(regular_file(file_).read(text, read_));
  const auto end = text.rfind('\n');
  text.resize(end == std::string::npos ? 0 : end + 1);
  read_ += text.size();
  return text;
} catch (const fault_error&) {
  return {};
}

}  // namespace hydra
