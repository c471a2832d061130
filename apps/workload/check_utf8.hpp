#pragma once
// What a run writes must be readable again: the parser accepts UTF-8 only.

#include "apps/workload/value.hpp"

namespace hydra::apps {

/// Throws fault_error{bad_input} for the first key or text that is not UTF-8. The text of a file
/// that was parsed is UTF-8; command-line options and names of files need not be.
void check_utf8(const value_table& root);

}  // namespace hydra::apps
