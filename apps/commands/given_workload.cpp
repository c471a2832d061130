#include "apps/commands/given_workload.hpp"

#include "apps/run_folder/shell_word.hpp"
#include "models/data/file_looks.hpp"
#include "runtime/base/path_kind.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/regular_file.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

/// Data may be larger than a workload file; a record is not.
std::string beginning_of(const fs::path& path) {
  constexpr std::uint64_t most = std::uint64_t{1} << 20;
  const regular_file file{path};
  std::string text(std::min(file.size(), most), '\0');
  text.resize(file.read(text, 0));
  return text;
}

[[noreturn]] void refuse_for_init(const fs::path& given, const std::string& what, const std::string& arguments) {
  refuse(fmt::format("{}: {}; a workload file (TOML) is expected: hydra init {} writes one", shown(given.string()),
                     what, arguments));
}

/// No file of TOML begins as JSON lines or an array of records do.
void refuse_material(const fs::path& given) {
  const std::string word = shell_word(given.string());
  if (kind_of(given) == fs::file_type::directory && kind_of(given / "config.json") == fs::file_type::regular)
    refuse_for_init(given, "the folder of a checkpoint", word + " DATA");
  if (kind_of(given) != fs::file_type::regular) return;
  if (const auto look = json_look(beginning_of(given)); !look.empty())
    refuse_for_init(given, fmt::format("data ({})", look), "FOLDER_OF_CHECKPOINT " + word);
}

}  // namespace

workload read_given_workload(const fs::path& file, const std::vector<key_override>& overrides,
                             const path_places& places) {
  refuse_material(file);
  return read_workload(file, overrides, places);
}

}  // namespace hydra::apps
