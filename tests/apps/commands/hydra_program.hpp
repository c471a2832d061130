#pragma once
// Runs the program as a user does.

#include "tests/apps/temporary_folder.hpp"

#include <string>

namespace hydra::apps {

struct outcome {
  int status = -1;  ///< exit status; of a process that a signal has killed -1 or the shell's
  std::string out;  ///< stdout
  std::string err;  ///< stderr
};

/// `hydra <arguments>` with `folder` as working directory, in a process in which LibTorch is already loaded. Arguments
/// are split as by the shell: no pipes, redirections or braces, and patterns must be quoted.
outcome run_hydra(const temporary_folder& folder, const std::string& arguments);

/// The same where the main thread can start only so many threads.
outcome run_hydra_with_threads(const temporary_folder& folder, const std::string& arguments, int threads);

/// The built program. The shell splits the arguments; `before`: what it does first.
outcome start_hydra(const temporary_folder& folder, const std::string& arguments, const std::string& before = "");

/// The built program with streams of its own: ">/dev/full", "<&-"; the others come back.
outcome run_hydra_with_streams(const temporary_folder& folder, const std::string& arguments,
                               const std::string& streams);

/// No file may become larger than so many blocks of 512 bytes: what a full disk does to a program, too.
std::string with_small_files(int blocks);

}  // namespace hydra::apps
