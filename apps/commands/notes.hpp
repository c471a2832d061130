#pragma once
// Notes: what was read past in users' files, and what happened in a run, in addition to its tables.

#include <string>
#include <vector>

namespace hydra::apps {

/// Prints them on stderr, a line each, after flushing stdout.
void tell_notes(const std::vector<std::string>& notes);

}  // namespace hydra::apps
