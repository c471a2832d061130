#include "apps/run_folder/added_models.hpp"

#include "apps/workload/to_toml.hpp"
#include "runtime/base/path_kind.hpp"
#include "runtime/base/text_file.hpp"
#include "runtime/storage/atomic_file.hpp"
#include "runtime/storage/file_system.hpp"

#include <algorithm>
#include <string>

namespace hydra::apps {

namespace fs = std::filesystem;

namespace {

/// With another path of the checkpoint that each begins from, if it begins from one.
template <class Change>
value_list with_beginnings(value_list models, const Change& change) {
  for (value& m : models) {
    if (auto* const path = content_of<std::string>(std::get<value_table>(m.content).find("begins")))
      *path = change(fs::path{*path}).string();
  }
  return models;
}

bool is_inside(const fs::path& relative) { return !relative.empty() && *relative.begin() != ".."; }

/// Relative to the run folder, which may be moved, if it is in it; else absolute.
fs::path recorded_path(const fs::path& run, const fs::path& begins) {
  const fs::path inside =
      fs::absolute(begins).lexically_normal().lexically_relative(fs::absolute(run).lexically_normal());
  return is_inside(inside) ? inside : fs::absolute(begins).lexically_normal();
}

}  // namespace

value_list read_added(const fs::path& run) {
  const fs::path file = run / added_file;
  if (kind_of(file) == fs::file_type::not_found) return {};
  return with_beginnings(parse_models(read_text(file, text_kind::settings), file.string()),
                         [&](const fs::path& begins) { return run / begins; });
}

std::vector<std::string> names_of(const value_list& models) {
  std::vector<std::string> names;
  for (const value& m : models)
    if (const auto* const name = content_of<std::string>(std::get<value_table>(m.content).find("name")))
      names.push_back(*name);
  return names;
}

workload with_added(const workload& w, const moved_bases& bases) {
  value_list added = read_added(w.options.output);
  const auto known = [&](const value& m) {
    const std::vector<std::string> name = names_of({m});
    return std::ranges::any_of(w.models, [&](const model_entry& e) { return name == std::vector{e.description.name}; });
  };
  std::erase_if(added, known);
  bases.place(added, w.options.output);
  return added.empty() ? w : with_models(w, added);
}

void record_added(const fs::path& run, const value_list& models) {
  if (models.empty()) return posix_file_system().remove_all(run / added_file);
  value_table root;
  root.set("model", {.where = {}, .written = {}, .content = with_beginnings(models, [&](const fs::path& begins) {
                                                   return recorded_path(run, begins);
                                                 })});
  write_atomically(run / added_file, to_toml(root));
}

}  // namespace hydra::apps
