#pragma once
// trace.json as spans.

#include "runtime/trace/trace.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>

namespace hydra::apps {

/// Spans in the order of the file, one at a time, their tracks and details as they were recorded; times since the
/// earliest one. How many spans before them the run has dropped. Throws fault_error{bad_input} with `name` in front if it is
/// no trace.
std::uint64_t read_spans(std::istream& in, const std::string& name, const std::function<void(const span&)>& take);

/// Throws fault_error{bad_input} also if the file is not there.
std::uint64_t read_spans(const std::filesystem::path& file, const std::function<void(const span&)>& take);

}  // namespace hydra::apps
