#include "partition/checkpoint/kept_checkpoint.hpp"

#include "partition/checkpoint/checkpoint_folder.hpp"
#include "partition/checkpoint/saved_model.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/text_file.hpp"
#include "runtime/storage/checksum_list.hpp"
#include "runtime/storage/file_system.hpp"
#include "runtime/storage/leftovers.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace hydra {

namespace {

namespace fs = std::filesystem;

void link_or_copy(const fs::path& from, const fs::path& to) {
  std::error_code no_links;
  fs::create_hard_link(from, to, no_links);
  if (no_links) {
    fs::copy_file(from, to);
  }
}

/// False if a file that is listed is not there: it is being dropped. Bytes are verified when a model begins from it.
bool link_files(const fs::path& from, const fs::path& to) try {
  posix_file_system().make_folder(to);
  for (const auto& listed : parse_checksums(read_text(from / checksum_file, text_kind::checksums))) {
    link_or_copy(from / listed.file, to / listed.file);
  }
  link_or_copy(from / checksum_file, to / checksum_file);
  return true;
} catch (const fs::filesystem_error& e) {
  if (std::error_code none; !fs::exists(e.path1(), none)) {
    return false;
  }
  throw fault_error(fault_code::io, fmt::format("cannot write {}: {}", to.string(), e.code().message()));
}

/// `name`, or with a number where another training has left that: the name of the same checkpoint, or a free one.
fs::path place_for(const fs::path& checkpoint, const std::string& name) {
  const auto of_model = checkpoint.parent_path();
  const auto sums = read_text(checkpoint / checksum_file, text_kind::checksums);
  auto place = of_model / name;
  for (int n = 2; fs::exists(place) && read_text(place / checksum_file, text_kind::checksums) != sums; ++n) {
    place = of_model / fmt::format("{}-{}", name, n);
  }
  return place;
}

/// None if it was dropped, is damaged, or was saved inside a step.
std::optional<fs::path> kept(const fs::path& checkpoint) try {
  const auto saved = read_checkpoint(checkpoint);
  if (!saved.any_cuts()) {
    return std::nullopt;
  }
  const auto place = place_for(checkpoint, fmt::format("kept-step-{}", saved.versions.front().value));
  const auto temporary = temporary_path(place, ::getpid());
  auto& files = posix_file_system();
  if (fs::exists(place)) {
    return place;
  }
  files.remove_all(temporary);
  if (!link_files(checkpoint, temporary)) {
    files.remove_all(temporary);
    return std::nullopt;
  }
  files.sync_folder(temporary);
  files.rename(temporary, place);
  files.sync_folder(place.parent_path());
  return place;
} catch (const fault_error& e) {
  if (e.what_happened().code == fault_code::damaged || !fs::exists(checkpoint / checksum_file)) {
    return std::nullopt;
  }
  throw;
}

}  // namespace

std::filesystem::path keep_checkpoint(const fs::path& of_model) {
  std::vector<fs::path> before;
  for (auto all = list_states(of_model); all != before; all = list_states(of_model)) {  // newer ones drop these
    for (const auto& checkpoint : all) {
      if (auto place = kept(checkpoint)) {
        return *place;
      }
    }
    before = std::move(all);
  }
  throw fault_error(
      fault_code::refused,
      fmt::format("{} has no checkpoint from between two steps: the model has done no step, or is paused inside "
                  "one (resume it first)",
                  of_model.string()));
}

}  // namespace hydra
