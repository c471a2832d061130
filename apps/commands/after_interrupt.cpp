#include "apps/commands/after_interrupt.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

namespace hydra::apps {

std::string after_interrupt(const std::string& why, const session_options& run, const std::string& command) {
  std::error_code ignored;
  if (!std::filesystem::exists(run.output, ignored)) return why + "; there is nothing to continue";
  if (run.checkpoint.keep == 0) return why + "; nothing was saved, because run.checkpoint.keep is 0";
  return fmt::format("{}; to continue: {}", why, command);
}

}  // namespace hydra::apps
