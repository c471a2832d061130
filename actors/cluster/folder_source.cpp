#include "actors/cluster/folder_source.hpp"

#include "runtime/storage/file_system.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace hydra {

namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t largest_chunk = 1 << 20;

void close_all(const std::vector<int>& descriptors) { std::ranges::for_each(descriptors, close); }

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

struct opened_file {
  int descriptor = -1;
  byte_count size{};
};

opened_file open_file(const fs::path& file) {
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    throw file_error("open", file, errno);
  }
  struct stat facts {};
  if (fstat(descriptor, &facts) != 0) {
    const int error = errno;
    close(descriptor);
    throw file_error("read", file, error);
  }
  return {descriptor, byte_count{static_cast<std::uint64_t>(facts.st_size)}};
}

}  // namespace

folder_source::~folder_source() {
  for (const auto& [offer, descriptors] : offers_) {
    close_all(descriptors);
  }
}

offered_folders folder_source::offer(std::span<const fs::path> folders, const chunk_source& from) {
  offered_folders what{.offer = ++last_, .from = from, .files = {}};
  std::vector<int> descriptors;
  try {
    for (const auto& folder : folders) {
      for (const auto& file : files_in(folder)) {
        const auto opened = open_file(file);
        descriptors.push_back(opened.descriptor);
        what.files.push_back({folder.filename().string(), file.filename().string(), opened.size});
      }
    }
  } catch (...) {
    close_all(descriptors);
    throw;
  }
  offers_.emplace(what.offer, std::move(descriptors));
  return what;
}

chunk folder_source::read(const want_chunk& wanted) const {
  chunk answer{.file = wanted.file, .offset = wanted.offset, .bytes = {}, .why = {}};
  const auto offer = offers_.find(wanted.offer);
  if (offer == offers_.end() || wanted.file >= offer->second.size()) {
    answer.why = {fault_code::io, "the files are not offered any more"};
    return answer;
  }
  answer.bytes.resize(std::min(wanted.bytes, largest_chunk));
  const auto got =
      pread(offer->second[wanted.file], answer.bytes.data(), answer.bytes.size(), static_cast<off_t>(wanted.offset));
  if (got < 0) {
    answer.why = {fault_code::io, "read: " + std::generic_category().message(errno)};
  }
  answer.bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return answer;
}

void folder_source::drop(std::uint64_t offer) {
  if (const auto found = offers_.find(offer); found != offers_.end()) {
    close_all(found->second);
    offers_.erase(found);
  }
}

}  // namespace hydra
