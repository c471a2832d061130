#include "apps/bench/measurement.hpp"

#include "runtime/base/bytes.hpp"
#include "runtime/base/json_text.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <thread>

namespace hydra::apps {

namespace {

unsigned cores_allowed(unsigned otherwise) {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<unsigned>(CPU_COUNT(&set)) : otherwise;
}

}  // namespace

double measurement::median() const {
  if (values.empty()) return 0;
  std::vector<double> sorted = values;
  std::ranges::sort(sorted);
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

double measurement::least() const { return values.empty() ? 0 : std::ranges::min(values); }

double measurement::most() const { return values.empty() ? 0 : std::ranges::max(values); }

std::string to_string(const measurement& m) {
  return fmt::format("{:.3f} [{:.3f}..{:.3f}]", m.median(), m.least(), m.most());
}

nlohmann::ordered_json json_of(const measurement& m) {
  return {{"median", m.median()}, {"least", m.least()}, {"most", m.most()}, {"values", m.values}};
}

double seconds_of(const std::function<void()>& work) {
  const auto start = steady_clock::now();
  work();
  return seconds(steady_clock::now() - start);
}

machine_description this_machine() {
  const unsigned cores = std::thread::hardware_concurrency();
  std::ifstream cpuinfo{"/proc/cpuinfo"};
  return {processor_in(cpuinfo), cores_allowed(cores), cores};
}

std::string processor_in(std::istream& cpuinfo) {
  for (std::string line; std::getline(cpuinfo, line);)
    if (const auto colon = line.find(": "); line.starts_with("model name") && colon != std::string::npos)
      return line.substr(colon + 2);
  return "unknown processor";
}

std::string to_string(const machine_description& m) {
  return fmt::format("{}, {} cores used of {}", m.processor, m.cores_used, m.cores);
}

std::string to_json(const std::string& name, const machine_description& on, const nlohmann::ordered_json& result) {
  nlohmann::ordered_json j{{"name", name}, {"processor", on.processor}, {"cores_used", on.cores_used}};
  j.update(result);
  return json_text(j, 2) + "\n";
}

}  // namespace hydra::apps
