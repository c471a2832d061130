#include "apps/run_folder/resume_command.hpp"

#include "apps/run_folder/recorded_data.hpp"
#include "apps/run_folder/run_folder.hpp"
#include "apps/run_folder/shell_word.hpp"

#include <fmt/format.h>

namespace hydra::apps {

namespace fs = std::filesystem;

std::string resume_command(const fs::path& run) {
  const auto data = read_recorded_data(run);
  const bool elsewhere = data && data->began_in != fs::current_path();
  const fs::path folder = elsewhere ? fs::absolute(run) : run;
  const std::string first = elsewhere ? fmt::format("cd {} && ", shell_word(data->began_in.string())) : "";
  return fmt::format("{}hydra train {} --resume --output {}", first, shell_word((folder / workload_file).string()),
                     shell_word(folder.string()));
}

}  // namespace hydra::apps
