#include "actors/cluster/metrics_tail.hpp"

#include "runtime/base/json_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <exception>
#include <fstream>
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

std::string metrics_tail::whole_lines(std::size_t most) {
  std::ifstream in(file_, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(read_));
  std::string text(most, '\0');
  in.read(text.data(), static_cast<std::streamsize>(most));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
  const auto end = text.rfind('\n');
  text.resize(end == std::string::npos ? 0 : end + 1);
  read_ += text.size();
  return text;
}

}  // namespace hydra
