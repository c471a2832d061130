#pragma once
// Which work may run at the same time, by vector clocks over streams and events. Work that has really run counts as done before,
// so there are no false alarms; a race needs a delay to be seen.

#include "tests/support/gpu_double/streams.hpp"

#include <string>

namespace gpu_double {

std::string text_of(const touched& r);

/// Compares the task with all that other streams have not done and that does not happen before it. With the lock held.
void look_for_races(const task& t, const stream& on);

/// What still has to use these bytes; empty: nothing. With the lock held.
std::string user_of(const touched& r);

}  // namespace gpu_double
