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

/// `hydra <arguments>` with `folder` as working directory; the shell splits the arguments. `before`: what it does first.
outcome run_hydra(const temporary_folder& folder, const std::string& arguments, const std::string& before = "");

/// The same with streams of its own: ">/dev/full", "<&-"; the others come back.
outcome run_hydra_with_streams(const temporary_folder& folder, const std::string& arguments, const std::string& streams);

/// No file may become larger than so many blocks of 512 bytes: what a full disk does to a program, too.
std::string with_small_files(int blocks);

}  // namespace hydra::apps
