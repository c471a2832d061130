#include "apps/run_folder/added_models.hpp"

#include "apps/workload/to_toml.hpp"
#include "runtime/base/text_file.hpp"
#include "runtime/storage/atomic_file.hpp"
#include "runtime/storage/file_system.hpp"

#include <ostream>
#include <string>

namespace hydra::apps {

namespace fs = std::filesystem;

value_list read_added(const fs::path& run) {
  const fs::path file = run / added_file;
  std::error_code none;
  if (!fs::exists(file, none)) return {};
  return parse_models(read_text(file), file.string());
}

workload with_added(const workload& w) {
  const value_list added = read_added(w.options.output);
  return added.empty() ? w : with_models(w, added);
}

void record_added(const fs::path& run, const value_list& models) {
  if (models.empty()) return posix_file_system().remove_all(run / added_file);
  value_table root;
  root.set("model", {.where = {}, .written = {}, .content = models});
  const std::string text = to_toml(root);
  write_atomically(run / added_file, [&](std::ostream& out) { out << text; });
}

}  // namespace hydra::apps
