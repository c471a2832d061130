#include "apps/run_folder/resume_command.hpp"

#include "apps/run_folder/recorded_data.hpp"
#include "apps/run_folder/shell_word.hpp"

#include <fmt/format.h>

#include <system_error>

namespace hydra::apps {

namespace fs = std::filesystem;

fs::path place_to_resume(const fs::path& run) {
  const auto data = read_recorded_data(run);
  std::error_code ignored;
  const bool elsewhere = data && data->began_in != fs::current_path() && fs::is_directory(data->began_in, ignored);
  return elsewhere ? data->began_in : fs::path{};
}

std::string resume_command(const fs::path& run) {
  const fs::path there = place_to_resume(run);
  if (there.empty()) return fmt::format("hydra train {} --resume", shell_word(run.string()));
  return fmt::format("cd {} && hydra train {} --resume", shell_word(there.string()),
                     shell_word(fs::absolute(run).string()));
}

}  // namespace hydra::apps
