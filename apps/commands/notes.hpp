#pragma once
// Notes on what was read past in users' files or happened in a run.

#include <string>
#include <vector>

namespace hydra::apps {

/// Prints them on stderr, a line each, after flushing stdout.
void tell_notes(const std::vector<std::string>& notes);

}  // namespace hydra::apps
