#pragma once
// What commands tell on stderr in addition to their tables: lines, and notes on what was read past in users' files or
// happened in a run.

#include <string>
#include <vector>

namespace hydra::apps {

/// Prints a line on stderr, as printable(): names and folders come from workloads, which others may have written.
void tell_line(const std::string& text);

/// Prints them on stderr, a line each, after flushing stdout.
void tell_notes(const std::vector<std::string>& notes);

}  // namespace hydra::apps
