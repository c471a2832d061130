#pragma once
// Faults: errors with a code and a text that helps a person.

#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>

namespace hydra {

enum class fault_code : std::uint8_t {
  none,
  bad_input,          ///< what the user asked for is impossible; exit 2
  does_not_fit,       ///< a byte budget is too small; exit 3
  out_of_memory,      ///< a device or the host refused an allocation in the run
  device_lost,        ///< a device died, was fenced or stopped answering
  dependency_failed,  ///< an operation was skipped because an operation it waits for failed
  cancelled,          ///< withdrawn, or the device was stopped, before it ran
  refused,            ///< a lease was requested on a block that is not (or no longer) at home
  io,                 ///< a file could not be read or written
  damaged,            ///< a file was read, but its content is not what was written
  not_finite,         ///< a loss became NaN or infinite
  interrupted,        ///< stopped from outside
  internal,           ///< an invariant of Hydra's own code is broken
};

/// Code and text. The text says what was requested, what is available, and what to do.
struct fault {
  fault_code code = fault_code::none;
  std::string text;

  explicit operator bool() const noexcept { return code != fault_code::none; }

  friend auto inspect(auto& f, fault& x) { return f(x.code, x.text); }
};

std::string to_string(fault_code code);

/// The exception that carries a fault through the core.
class fault_error : public std::runtime_error {
 public:
  fault_error(fault_code code, std::string text);
  explicit fault_error(fault f);
  const fault& what_happened() const noexcept { return fault_; }

 private:
  fault fault_;
};

/// Turns any exception (fault_error, c10::Error and its OutOfMemoryError, std::bad_alloc, others) into a fault.
/// The only place where foreign exceptions are converted.
fault to_fault(const std::exception_ptr& e) noexcept;

}  // namespace hydra
