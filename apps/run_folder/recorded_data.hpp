#pragma once
// data.json: describes the data that the models of a run were trained on, so that commands that read no sample need no
// data.

#include "apps/run_folder/data_files.hpp"
#include "models/data_source.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hydra::apps {

struct recorded_data {
  std::filesystem::path began_in;   ///< the working directory of the run: relative paths of its workload start there
  std::map<std::string, std::shared_ptr<const data_source>> sources;   ///< by model; they have no samples
  std::vector<input_file> files{};                                     ///< none of runs of older versions
};

/// data.json, in the run folder.
inline constexpr const char* data_file = "data.json";

/// Throws fault_error{bad_input} if data.json could not store the current working directory (it is not UTF-8).
void check_working_directory();

/// Writes it for a run that starts in the current working directory. Throws fault_error{io}.
void record_data(const std::filesystem::path& run,
                 const std::map<std::string, std::shared_ptr<const data_source>>& sources,
                 const std::vector<input_file>& files);

/// Nothing if the run folder has no data.json. Throws fault_error{bad_input} if it is damaged.
std::optional<recorded_data> read_recorded_data(const std::filesystem::path& run);

}  // namespace hydra::apps
