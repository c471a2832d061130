#pragma once
// apps/bench/ holds the benchmarks behind the figures: each is a function from options to a result, which prints as a
// table and as JSON. Figures are medians of repeats that are interleaved, because a machine's speed drifts.

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

namespace hydra::apps {

/// Values of one cell, one for each repeat.
struct measurement {
  std::vector<double> values;

  /// The mean of the two middle values if their number is even; 0 without values.
  double median() const;
  double least() const;
  double most() const;
};

/// "1.04 [1.02..1.10]".
std::string to_string(const measurement& m);

/// {"median": 1.04, "least": 1.02, "most": 1.1, "values": [...]}
nlohmann::ordered_json json_of(const measurement& m);

double seconds_of(const std::function<void()>& work);

/// The machine of a measurement: "AMD EPYC 7B13, 2 cores used of 64". The cores are those that this process may run on.
struct machine_description {
  std::string processor;
  unsigned cores_used = 0;
  unsigned cores = 0;
};

machine_description this_machine();
/// Reads the text of /proc/cpuinfo; "unknown processor" if it has no model name.
std::string processor_in(std::istream& cpuinfo);
std::string to_string(const machine_description& m);

/// What a benchmark prints with --json: its name, the machine, and the result.
std::string to_json(const std::string& name, const machine_description& on, const nlohmann::ordered_json& result);

}  // namespace hydra::apps
