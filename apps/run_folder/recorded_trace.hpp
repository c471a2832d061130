#pragma once
// Reads trace.json as spans.

#include "runtime/trace/trace.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>

namespace hydra::apps {

/// Calls `take` with each span in the order of the file, with track and detail as recorded; times are since the
/// earliest span. Returns how many earlier spans the run has dropped. Throws fault_error{bad_input} with `name` in
/// front if the input is not a trace.
std::uint64_t read_spans(std::istream& in, const std::string& name, const std::function<void(const span&)>& take);

/// Throws fault_error{bad_input} also if the file is not there.
std::uint64_t read_spans(const std::filesystem::path& file, const std::function<void(const span&)>& take);

}  // namespace hydra::apps
