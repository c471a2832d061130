#pragma once
// Exceptions of code that others wrote, with where they were thrown.

#include <string>

namespace hydra {

/// In a handler: throws what is being handled again as fault_error{its code, "WHERE: TEXT"}. An exception of LibTorch
/// keeps its type, by which devices see what has failed (memory, the device itself); its text gets " (WHERE)" at its
/// end.
[[noreturn]] void rethrow_from(const std::string& where);

}  // namespace hydra
