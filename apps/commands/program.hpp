#pragma once
// The `hydra` program: command line -> command -> exit status.

namespace hydra::apps {

/// 0 success; 1 a model or the run failed, or stdout could not be written; 2 bad input, nothing was started; 3 it does
/// not fit the budgets, nothing was started. Never throws.
int run_program(int argc, const char* const* argv) noexcept;

/// Ends the process without the destructors of libraries: they take a tenth of a second, in which a signal would end it
/// with a status that reports a failure. (A sanitizer looks for leaks after them.)
[[noreturn]] void end_at_once(int status);

}  // namespace hydra::apps
