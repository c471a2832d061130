#include "partition/checkpoint/kept_checkpoint.hpp"

#include "partition/checkpoint/checkpoint_folder.hpp"
#include "partition/checkpoint/saved_model.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/text_file.hpp"
#include "runtime/storage/checksum_list.hpp"
#include "runtime/storage/file_system.hpp"

#include <fmt/format.h>

#include <optional>
#include <system_error>

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
  for (const auto& listed : parse_checksums(read_text(from / checksum_file))) {
    link_or_copy(from / listed.file, to / listed.file);
  }
  link_or_copy(from / checksum_file, to / checksum_file);
  return true;
} catch (const fs::filesystem_error& e) {
  if (!fs::exists(from / checksum_file)) {
    return false;
  }
  throw fault_error(fault_code::io, fmt::format("cannot write {}: {}", to.string(), e.code().message()));
}

/// None if it was dropped, is damaged, or was saved inside a step.
std::optional<fs::path> kept(const fs::path& checkpoint) try {
  const auto saved = read_checkpoint(checkpoint);
  if (!saved.any_cuts()) {
    return std::nullopt;
  }
  const auto of_model = checkpoint.parent_path();
  const auto name = fmt::format("kept-step-{}", saved.versions.front().value);
  const auto place = of_model / name, temporary = of_model / fmt::format(".{}.tmp", name);
  auto& files = posix_file_system();
  if (fs::exists(place)) {
    return place;
  }
  files.remove_all(temporary);
  if (!link_files(checkpoint, temporary)) {
    files.remove_all(temporary);
    return std::nullopt;
  }
  files.rename(temporary, place);
  files.sync_folder(of_model);
  return place;
} catch (const fault_error& e) {
  if (e.what_happened().code == fault_code::damaged || !fs::exists(checkpoint / checksum_file)) {
    return std::nullopt;
  }
  throw;
}

}  // namespace

std::filesystem::path keep_checkpoint(const fs::path& of_model) {
  for (const auto& checkpoint : list_checkpoints(of_model)) {
    if (auto place = kept(checkpoint)) {
      return *place;
    }
  }
  throw fault_error(
      fault_code::refused,
      fmt::format("{} has no checkpoint from between two steps yet: the model has done no step, or was saved "
                  "inside one",
                  of_model.string()));
}

}  // namespace hydra
