#include "actors/cluster/metrics_lines.hpp"

#include "actors/report/run_metrics.hpp"
#include "runtime/base/json_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <exception>
#include <sstream>
#include <utility>

namespace hydra {

metrics_lines::metrics_lines(std::filesystem::path folder, bool progress)
    : file_(std::move(folder) / metrics_file), logger_(make_logger(verbosity::normal)), log_(logger_) {
  if (progress) {
    progress_ = make_progress_printer(0);
  }
}

metrics_lines::~metrics_lines() = default;

void metrics_lines::expect(const std::vector<std::string>& names, const std::vector<planned_model>& models) {
  for (std::size_t i = 0; progress_ && i < names.size() && i < models.size(); ++i) {
    if (models[i].steps > 0) {
      progress_->expect(names[i], models[i].steps, models[i].work / models[i].steps);
    }
  }
}

void metrics_lines::add(const std::string& lines) {
  log_.append(file_, lines);
  std::istringstream all(lines);
  for (std::string line; progress_ && std::getline(all, line);) {
    show(line);
  }
}

/// Lines of metrics.jsonl, as run_metrics writes them.
void metrics_lines::show(const std::string& line) try {
  const auto j = parse_json(line);
  const auto name = j.at("model").get<std::string>();
  const auto step = j.at("step").get<std::uint32_t>();
  if (j.contains("validation")) {
    progress_->evaluated(name, j.at("validation").is_number() ? j.at("validation").get<double>() : std::nan(""));
  } else {
    progress_->step(name, step_index{step - 1}, j.at("steps").get<std::uint32_t>(),
                    j.at("loss").is_number() ? j.at("loss").get<float>() : std::nanf(""), steady_clock::now());
  }
} catch (const std::exception&) {
  // not shown
}

std::string metrics_lines::close() {
  if (progress_) {
    progress_->finish(steady_clock::now());
  }
  std::string note;
  for (const auto& [file, lost] : log_.close()) {
    note = fmt::format("{} lacks {} lines: {}", file.filename().string(), lost.entries,
                       lost.why ? lost.why.text : "the disk was too slow");
  }
  return note;
}

}  // namespace hydra
