#pragma once
// The notes of a run, in addition to its tables.

#include "actors/report/report.hpp"

namespace hydra::apps {

/// Prints the notes of a report on stderr, a line each, after flushing stdout.
void tell_notes(const report& r);

}  // namespace hydra::apps
