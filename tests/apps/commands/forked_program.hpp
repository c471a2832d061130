#pragma once
// Commands of the program in processes that are forked from one in which LibTorch is loaded: loading it is most of what
// a short command takes.

#include <filesystem>
#include <string>
#include <vector>

namespace hydra::apps {

struct program_call {
  std::filesystem::path folder;  ///< working directory
  std::vector<std::string> arguments;
  std::filesystem::path out;  ///< files for its streams
  std::filesystem::path err;
  int threads = -1;  ///< how many its first thread can start; -1: not limited
};

/// Exit status of `hydra <arguments>` with the environment of the caller; 1000 + the signal that killed it. On any
/// thread.
int run_forked(const program_call& call);

}  // namespace hydra::apps
