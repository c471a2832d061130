#pragma once
// Whether the system lets the process have as many threads as it needs. It is asked before they are made: libraries
// that get some of theirs can often neither go on nor be destroyed.

#include <cstddef>
#include <exception>
#include <functional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace hydra {

/// Begins a thread that lives until its body returns. Throws std::system_error if the system refuses it.
using thread_maker = std::function<std::jthread(std::function<void()> body)>;

/// How many threads there can be beside those of the process, at most `wanted`: they are made, and ended.
std::size_t possible_threads(std::size_t wanted, const thread_maker& make);

/// Throws fault_error{bad_input} if there cannot be `needed` more threads now: "the run needs 12 threads beside the 9
/// of this process, but 5 can be made: ...". `who` needs them.
void require_threads(std::size_t needed, const std::string& who);

/// What to do where no thread can be made.
std::string more_threads();

/// Ends the process with status 1 and a message: a library has half of what it needs for `who`, and would crash or wait
/// for ever. It happens if others take the threads after require_threads, or if there are exactly enough: the system
/// counts those that have just ended for some microseconds more.
[[noreturn]] void end_for_lack_of_threads(const std::string& who, const std::exception& why) noexcept;

/// Returns what `begin` returns, which makes threads inside a library that cannot undo it. Ends the process where the
/// system refuses one of them.
template <class Begin>
decltype(auto) begin_or_end_process(const std::string& who, Begin&& begin) {
  try {
    return std::forward<Begin>(begin)();
  } catch (const std::system_error& e) {
    if (e.code() != std::errc::resource_unavailable_try_again) throw;
    end_for_lack_of_threads(who, e);
  }
}

}  // namespace hydra
