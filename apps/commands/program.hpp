#pragma once
// The `hydra` program: command line -> command -> exit status.

namespace hydra::apps {

/// 0 success; 1 a model or the run failed, or stdout could not be written; 2 bad input, nothing was started; 3 it does
/// not fit the budgets, nothing was started. Never throws.
int run_program(int argc, const char* const* argv) noexcept;

}  // namespace hydra::apps
