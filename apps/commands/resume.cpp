#include "apps/commands/resume.hpp"

#include "apps/run_folder/added_models.hpp"
#include "apps/run_folder/recorded_run.hpp"
#include "apps/run_folder/run_folder.hpp"
#include "apps/workload/check.hpp"
#include "apps/workload/chosen_parallel.hpp"
#include "apps/workload/convert.hpp"
#include "apps/workload/device_kinds.hpp"
#include "apps/workload/forbidden_changes.hpp"
#include "apps/workload/parse.hpp"
#include "apps/workload/to_toml.hpp"
#include "runtime/base/text_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

/// Whether the folder is empty, except for a workload file that was being written when the run was killed
/// (temporary_path()).
bool holds_nothing(const fs::path& folder) {
  const auto unfinished = [](const fs::directory_entry& e) {
    const std::string name = e.path().filename().string();
    return name.starts_with("." + std::string{workload_file}) && name.ends_with(".tmp");
  };
  return std::ranges::all_of(fs::directory_iterator{folder}, unfinished);
}

bool has_checkpoint(const fs::path& folder) {
  std::error_code none;
  const fs::recursive_directory_iterator all{folder / "checkpoints", none};
  return std::ranges::any_of(all, [](const fs::directory_entry& e) { return e.is_regular_file(); });
}

value_table read_recorded(const workload& w, const fs::path& file) {
  std::error_code ignored;
  const auto refuse_folder = [&](const char* what) {
    refuse(w.output_place, "run.output",
           fmt::format("\"{}\" is not a run folder: {}; choose another by --output", w.options.output.string(), what));
  };
  if (!fs::is_regular_file(file, ignored)) refuse_folder("it holds no workload.toml");
  value_table table = parse_toml(read_text(file, text_kind::settings), file.string());
  if (!content_of<value_list>(table.find("model"))) refuse_folder("its workload.toml has no [[model]]");
  return table;
}

/// The keys of a kind; none for a kind that only an older workload names.
std::span<const key_rule> keys_of(const std::string& kind, const workload& w) {
  for (const device_entry& d : w.devices)
    if (d.kind.name == kind) return d.kind.keys;
  const auto known = std::ranges::find(device_kinds(), kind, &device_kind::name);
  return known == device_kinds().end() ? std::span<const key_rule>{} : known->keys;
}

bool is_default_of(std::span<const key_rule> keys, const std::string& key, const value& given) {
  const auto rule = std::ranges::find(keys, key, &key_rule::name);
  return rule != keys.end() && is_default(given, *rule);
}

/// The settings of a device that affect results, in words: "cpu", "cpu with threads = 2", "cuda with precision =
/// "bf16", tf32 = true". Defaults of its kind are left out.
std::string arithmetic_of(const value_table& device, const workload& w) {
  const std::string name = device.text("kind");
  std::vector<std::string> special;
  for (const char* key : {"threads", "precision", "gradients", "tf32"})
    if (const value* const given = device.find(key); given && !is_default_of(keys_of(name, w), key, *given))
      special.push_back(fmt::format("{} = {}", key, inline_toml(*given)));
  return special.empty() ? name : fmt::format("{} with {}", name, fmt::join(special, ", "));
}

std::set<std::string> arithmetics_of(const value_table& root, const workload& w) {
  std::set<std::string> all;
  for (const value& device : sub_tables(root, "device"))
    all.insert(arithmetic_of(std::get<value_table>(device.content), w));
  return all;
}

void check_same_arithmetic(const value_table& recorded, const workload& w) {
  const auto before = arithmetics_of(recorded, w);
  const auto now = arithmetics_of(w.as_run, w);
  if (before == now) return;
  refuse(
      w.devices.front().keys.where, "device",
      fmt::format("the run was trained on {} (now {}); other arithmetic may give other bits. Resume it as it was, or "
                  "train in another folder by --output",
                  fmt::join(before, " and "), fmt::join(now, " and ")));
}

std::string name_in(const value& model) { return std::get<value_table>(model.content).text("name"); }

/// A run that was killed while a model was added may have recorded it in added.toml only.
void complete_added(value_table& recorded, const fs::path& run) {
  auto& models = std::get<value_list>(recorded.find("model")->content);
  for (const value& added : read_added(run)) {
    const auto same = [&](const value& m) { return name_in(m) == name_in(added); };
    if (std::ranges::none_of(models, same)) models.push_back(added);
  }
}

void check_same_workload(const workload& w, const moved_bases& bases) {
  const fs::path file = w.options.output / workload_file;
  value_table recorded = read_recorded(w, file);
  complete_added(recorded, w.options.output);
  if (bases.given()) bases.place(recorded, w.options.output);
  const place top{std::make_shared<std::string>(file.string()), 1};
  check_same_arithmetic(recorded, w);
  refuse_changes(forbidden_changes({recorded, top, ""}, {w.as_run, w.file, ""}));
}

}  // namespace

void keep_choices(workload& w) {
  std::error_code ignored;
  const fs::path file = w.options.output / workload_file;
  if (has_choices(w) && fs::is_regular_file(file, ignored)) keep_results(w, read_recorded(w, file));
}

bool tells_end(const fs::path& run) try {
  const report r = read_report(run).summary;
  const auto ended = [](const model_report& m) {
    return m.status == model_status::finished || m.status == model_status::stopped;
  };
  return !r.interrupted && std::ranges::all_of(r.models, ended);
} catch (const fault_error&) {
  return false;  // no report that can be read
}

std::string check_resume(const workload& w, const moved_bases& bases) {
  const fs::path& folder = w.options.output;
  const auto afresh = [&](const char* what) {
    return fmt::format("{} \"{}\": starting afresh", what, folder.string());
  };
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(folder, ignored))) {
    check_output(w.output_place, folder);
    return afresh("no run yet in");
  }
  check_writable(w.output_place, folder);
  if (holds_nothing(folder)) return afresh("no run yet in");
  check_same_workload(w, bases);
  return has_checkpoint(folder) ? "" : afresh("no checkpoint yet in");
}

}  // namespace hydra::apps
