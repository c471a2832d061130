#pragma once
// The files that a workload's data are read from, as they were when a run started.

#include "apps/workload/workload.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace hydra::apps {

/// A file of [data.NAME].
struct input_file {
  std::string data;            ///< NAME
  std::filesystem::path path;  ///< absolute
  std::uint64_t bytes = 0;
  std::string modified;  ///< UTC, "2026-01-31 12:00:00"
};

/// Those that `train` and `validation` of all data name; not what is in folders.
std::vector<input_file> data_files(const workload& w);

/// "[data.chats]: chats.jsonl had 120 bytes, last changed 2026-...; it has 130 bytes, ..." for each file that differs
/// or is missing now; empty if none does.
std::string changed_files(const std::vector<input_file>& before, const std::vector<input_file>& now);

}  // namespace hydra::apps
