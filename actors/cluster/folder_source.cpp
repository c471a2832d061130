#include "actors/cluster/folder_source.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/storage/file_system.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace hydra {

namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t largest_chunk = 1 << 20;

std::vector<fs::path> files_in(const fs::path& folder) try {
  std::vector<fs::path> all;
  for (const auto& entry : fs::directory_iterator(folder)) {
    all.push_back(entry.path());
  }
  std::ranges::sort(all);
  return all;
} catch (const fs::filesystem_error& e) {
  throw file_error("read", folder, e.code().value());
}

/// The run has written it: that it is not there is no fault of the user's.
regular_file own_file(const fs::path& file) try {
  return regular_file(file);
} catch (const fault_error& e) {
  throw fault_error(fault_code::io, e.what());
}

}  // namespace

offered_folders folder_source::offer(std::span<const fs::path> folders, const chunk_source& from) {
  offered_folders what{.offer = ++last_, .from = from, .files = {}};
  std::vector<regular_file> opened;
  for (const auto& folder : folders) {
    for (const auto& file : files_in(folder)) {
      const auto size = opened.emplace_back(own_file(file)).size();
      what.files.push_back({folder.filename().string(), file.filename().string(), byte_count{size}});
    }
  }
  offers_.emplace(what.offer, std::move(opened));
  return what;
}

chunk folder_source::read(const want_chunk& wanted) const {
  chunk answer{.file = wanted.file, .offset = wanted.offset, .bytes = {}, .why = {}};
  const auto offer = offers_.find(wanted.offer);
  if (offer == offers_.end() || wanted.file >= offer->second.size()) {
    answer.why = {fault_code::io, "the files are not offered any more"};
    return answer;
  }
  try {
    answer.bytes.resize(std::min(wanted.bytes, largest_chunk));
    answer.bytes.resize(offer->second[wanted.file].read(answer.bytes, wanted.offset));
  } catch (const fault_error& e) {
    answer.why = e.what_happened();
    answer.bytes.clear();
  }
  return answer;
}

void folder_source::drop(std::uint64_t offer) { offers_.erase(offer); }

}  // namespace hydra
