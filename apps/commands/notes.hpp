#pragma once
// What a user should know of a run, beside its tables.

#include "actors/report/report.hpp"

namespace hydra::apps {

/// The notes of a report on stderr, a line each, behind what is on stdout already.
void tell_notes(const report& r);

}  // namespace hydra::apps
