#pragma once
// What a person is told of a run that was interrupted.

#include "actors/run/session_options.hpp"

#include <string>

namespace hydra::apps {

/// `why` and how to go on: by `command`, which resumes the run, if there is a run folder by now. Before a run has begun
/// there is none.
std::string after_interrupt(const std::string& why, const session_options& run, const std::string& command);

}  // namespace hydra::apps
