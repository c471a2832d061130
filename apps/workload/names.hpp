#pragma once
// Names of runs and models are also names of folders.

#include "apps/workload/value.hpp"

#include <string>

namespace hydra::apps {

/// The text, if it can name a folder: no "/", no control characters, not "." or "..", not too long. Throws
/// fault_error{bad_input}.
std::string checked_name(const value& v, std::string_view key);

/// The same for the name of a model, whose folder of checkpoints may have a longer name.
std::string checked_model_name(const value& v, std::string_view key);

}  // namespace hydra::apps
