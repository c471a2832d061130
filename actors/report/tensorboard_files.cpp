#include "actors/report/tensorboard_files.hpp"

#include "actors/report/event_record.hpp"
#include "actors/report/run_metrics.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/storage/atomic_file.hpp"
#include "runtime/storage/file_system.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <utility>

namespace hydra {

namespace {

/// Keys of a line and the tags that their values have.
constexpr std::array<std::pair<const char*, const char*>, 6> tags{{{"loss", "train/loss"},
                                                                    {"grad_norm", "train/grad_norm"},
                                                                    {"learning_rate", "train/learning_rate"},
                                                                    {"tokens_per_s", "train/tokens_per_s"},
                                                                    {"validation", "validation/loss"},
                                                                    {"accuracy", "validation/accuracy"}}};

}  // namespace

tensorboard_files::tensorboard_files(const std::filesystem::path& run, std::istream& earlier, append_log& log)
    : folder_(run / tensorboard_folder), log_(log), time_(seconds_since_1970()) {
  std::error_code error;
  std::filesystem::remove_all(folder_, error);
  if (error) {
    throw file_error("remove", folder_, error.value());
  }
  write_again(earlier);
}

void tensorboard_files::write_again(std::istream& earlier) {
  std::map<std::filesystem::path, std::string> records;
  for (std::string text; std::getline(earlier, text);) {
    add(parse_ordered_json(text), [&](const auto& file, std::string_view record) { records[file].append(record); });
  }
  for (const auto& [file, bytes] : records) {
    write_atomically(file, bytes);
  }
}

void tensorboard_files::add(const nlohmann::ordered_json& line) {
  add(line, [this](const auto& file, std::string_view record) { log_.append(file, record); });
}

void tensorboard_files::add(const nlohmann::ordered_json& line, const sink& to) {
  time_ = line.value("time", time_);
  scalar_event event{.time = time_, .step = line.at("step").get<std::uint64_t>(), .values = {}};
  for (const auto& [key, tag] : tags) {
    if (const auto found = line.find(key); found != line.end() && found->is_number()) {
      event.values.emplace_back(tag, found->get<float>());
    }
  }
  to(file_of(line.at("model").get<std::string>(), to), event_record(event));
}

const std::filesystem::path& tensorboard_files::file_of(const std::string& model, const sink& to) {
  const auto [place, is_new] = files_.try_emplace(model, folder_ / model / "events.out.tfevents.hydra");
  if (is_new) {
    std::error_code ignored;  // then the file cannot be written, and its entries are counted as lost
    std::filesystem::create_directories(place->second.parent_path(), ignored);
    to(place->second, version_record(time_) + start_record(time_));
  }
  return place->second;
}

}  // namespace hydra
