#pragma once
// Names of runs, models and data are also names of folders and of files.

#include "apps/workload/value.hpp"

#include <string>

namespace hydra::apps {

/// Throws fault_error{bad_input} if it cannot name a folder: "/" or control characters in it, "." or "..", too long.
void check_name(const std::string& name, const place& where, std::string_view key);

/// The text, checked.
std::string checked_name(const value& v, std::string_view key);

/// The same for the name of a model, whose folder of checkpoints may have a longer name.
std::string checked_model_name(const value& v, std::string_view key);

}  // namespace hydra::apps
