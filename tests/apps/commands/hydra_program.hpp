#pragma once
// Runs the built program as a user does.

#include "tests/apps/temporary_folder.hpp"

#include <string>

namespace hydra::apps {

struct outcome {
  int status = -1;  ///< exit status
  std::string out;  ///< stdout
  std::string err;  ///< stderr
};

/// `hydra <arguments>` with `folder` as working directory; the shell splits the arguments.
outcome run_hydra(const temporary_folder& folder, const std::string& arguments);

}  // namespace hydra::apps
