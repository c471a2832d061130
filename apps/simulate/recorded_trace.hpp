#pragma once
// trace.json as spans.

#include "runtime/trace.hpp"

#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

namespace hydra::apps {

/// Spans in the order of the file, their tracks and details as they were recorded; times since the earliest one. Throws
/// fault_error{bad_input} with `name` in front if it is no trace.
std::vector<span> read_spans(std::istream& in, const std::string& name);

/// Throws fault_error{bad_input} also if the file is not there.
std::vector<span> read_spans(const std::filesystem::path& file);

}  // namespace hydra::apps
