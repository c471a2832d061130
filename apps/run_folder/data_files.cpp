#include "apps/run_folder/data_files.hpp"

#include "apps/workload/convert.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sys/stat.h>

#include <algorithm>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

void add_file(const std::string& data, const std::string& path, std::vector<input_file>& all) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return;
  all.push_back({data, fs::absolute(path).lexically_normal(), static_cast<std::uint64_t>(facts.st_size),
                 fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::gmtime(facts.st_mtime))});
}

std::string state_of(const input_file& f) { return fmt::format("{} bytes, last changed {} UTC", f.bytes, f.modified); }

std::string difference(const input_file& before, const std::vector<input_file>& now) {
  const auto same =
      std::ranges::find_if(now, [&](const input_file& f) { return f.data == before.data && f.path == before.path; });
  const std::string name = fmt::format("[data.{}]: {}", before.data, before.path.string());
  if (same == now.end()) return fmt::format("{} had {}; it is not read now", name, state_of(before));
  if (same->bytes == before.bytes && same->modified == before.modified) return "";
  return fmt::format("{} had {}; it has {} now", name, state_of(before), state_of(*same));
}

}  // namespace

std::vector<input_file> data_files(const workload& w) {
  std::vector<input_file> all;
  for (const table_entry& data : sub_table(w.as_run, "data").entries)
    for (const char* key : {"train", "validation"})
      for (const auto& file : read_list<std::string>(*data.is.as<value_table>(), key)) add_file(data.key, file, all);
  return all;
}

std::string changed_files(const std::vector<input_file>& before, const std::vector<input_file>& now) {
  std::vector<std::string> changes;
  for (const input_file& f : before)
    if (std::string change = difference(f, now); !change.empty()) changes.push_back(std::move(change));
  for (const input_file& f : now)
    if (std::ranges::find(before, f.path, &input_file::path) == before.end())
      changes.push_back(fmt::format("[data.{}]: {} was not read", f.data, f.path.string()));
  return fmt::format("{}", fmt::join(changes, "; "));
}

}  // namespace hydra::apps
