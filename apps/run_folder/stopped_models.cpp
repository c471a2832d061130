#include "apps/run_folder/stopped_models.hpp"

#include "apps/workload/parse.hpp"
#include "apps/workload/to_toml.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/path_kind.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/text_file.hpp"
#include "runtime/storage/atomic_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

constexpr const char* stopped_key = "models";

[[noreturn]] void refuse_file(const fs::path& file) {
  refuse(file, fmt::format(
                   "{} = [NAME, ...] is expected, models that were stopped: write it so again, or remove the file, and "
                   "stop them again",
                   stopped_key));
}

std::string text_of(const std::vector<std::string>& models) {
  value_list names;
  for (const std::string& m : models) names.push_back(text_value(m, {}));
  value_table root;
  root.set(stopped_key, {.where = {}, .written = {}, .content = std::move(names)});
  return to_toml(root);
}

}  // namespace

std::vector<std::string> read_stopped(const fs::path& run) {
  const fs::path file = run / stopped_file;
  if (kind_of(file) == fs::file_type::not_found) return {};
  const value_table root = parse_toml(read_text(file, text_kind::settings), file.string());
  const auto* const names = content_of<value_list>(root.find(stopped_key));
  if (!names) refuse_file(file);
  std::vector<std::string> models;
  for (const value& name : *names) {
    if (!name.as<std::string>()) refuse_file(file);
    models.push_back(*name.as<std::string>());
  }
  return models;
}

stopped_models::stopped_models(fs::path run) : run_{std::move(run)}, models_{read_stopped(run_)} {}

void stopped_models::add(const std::string& model) try {
  const std::lock_guard lock{recording_};
  if (std::ranges::count(models_, model) > 0) return;
  std::vector<std::string> more = models_;
  more.push_back(model);
  record(std::move(more));
} catch (const fault_error& e) {
  throw fault_error{
      e.what_happened().code,
      fmt::format("{} is being stopped, but if the run is killed before it has ended, a run that is resumed "
                  "trains it on: {}",
                  model, e.what_happened().text)};
}

void stopped_models::remove(const std::string& model) {
  const std::lock_guard lock{recording_};
  std::vector<std::string> fewer = models_;
  if (std::erase(fewer, model) > 0) record(std::move(fewer));
}

void stopped_models::record(std::vector<std::string> models) {
  write_atomically(run_ / stopped_file, text_of(models));
  models_ = std::move(models);
}

}  // namespace hydra::apps
