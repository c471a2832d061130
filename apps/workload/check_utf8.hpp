#pragma once
// What a run writes down must be readable again: the parser takes UTF-8 alone.

#include "apps/workload/value.hpp"

namespace hydra::apps {

/// Throws fault_error{bad_input} for the first key or text that is not UTF-8. None comes from a file's text; options and
/// the names of files may bring it.
void check_utf8(const value_table& root);

}  // namespace hydra::apps
