#pragma once
// The `hydra` program: command line -> command -> exit status.

namespace hydra::apps {

/// 0 all done; 1 some model failed, or the run did, or stdout could not be written; 2 bad input, nothing was started; 3 it
/// cannot fit the budgets, nothing was started. Never throws.
int run_program(int argc, const char* const* argv) noexcept;

}  // namespace hydra::apps
