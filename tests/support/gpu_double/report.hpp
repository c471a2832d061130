#pragma once
// What has happened, for the end of the program, and the settings of the double, which are environment variables.

#include <cstdint>
#include <string>

namespace gpu_double {

/// GPU_DOUBLE_<name>, or `otherwise`.
std::int64_t setting(const std::string& name, std::int64_t otherwise);

/// With the lock held.
void count(const std::string& what, std::uint64_t n = 1);
std::uint64_t counted(const std::string& what);

/// Something that a GPU would not have forgiven, or forgiven by chance only: the program ends with status 87. With the
/// lock held.
void complain(const std::string& kind, const std::string& text);

}  // namespace gpu_double
