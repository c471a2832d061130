#include "apps/run_folder/moved_bases.hpp"

#include "apps/run_folder/run_folder.hpp"
#include "models/families/hub_folder.hpp"
#include "partition/checkpoint/checkpoint_folder.hpp"
#include "partition/checkpoint/saved_model.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/path_kind.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <system_error>
#include <utility>

namespace hydra::apps {

namespace fs = std::filesystem;

namespace {

/// A model that begins from a folder.
struct base_use {
  std::string model;
  value* from = nullptr;  ///< its path
  std::string digest{};   ///< of the weights that it began from; empty: not known

  const std::string& path() const { return *from->as<std::string>(); }
  bool is_there() const { return kind_of(path()) == fs::file_type::directory; }
};

/// Null unless the table has a text there; tables need not be checked.
value* text_at(value* table, const char* key) {
  auto* const keys = content_of<value_table>(table);
  value* const found = keys ? keys->find(key) : nullptr;
  return content_of<std::string>(found) ? found : nullptr;
}

std::vector<base_use> uses_in(value_list& models) {
  std::vector<base_use> all;
  for (value& m : models) {
    const value* const name = text_at(&m, "name");
    value* const from = name ? text_at(std::get<value_table>(m.content).find("chain"), "from") : nullptr;
    if (from) all.push_back({*name->as<std::string>(), from});
  }
  return all;
}

/// Of the weights that a training began with, without those of an adapter that it continues; empty without any.
std::string recorded_digest(const fs::path& of_model) {
  for (const fs::path& state : list_states(of_model)) try {
      const std::string weights = read_checkpoint(state).identity_line("weights");
      return weights.substr(0, weights.find(", adapter "));
    } catch (const fault_error&) {
      continue;  // it is damaged
    }
  return "";
}

/// By the folder of the model's checkpoints.
std::map<fs::path, std::string> recorded_digests(const fs::path& run) {
  std::map<fs::path, std::string> all;
  std::error_code none;
  for (const fs::directory_entry& e : fs::directory_iterator{run / "checkpoints", none})
    if (std::string digest = recorded_digest(e.path()); !digest.empty()) all.emplace(e.path(), std::move(digest));
  return all;
}

/// A model that is not saved yet begins from the same as others that name its folder.
void take_digests(std::vector<base_use>& uses, const fs::path& run, const std::map<fs::path, std::string>& recorded) {
  std::map<std::string, std::string> by_folder;
  for (const base_use& u : uses)
    if (const auto own = recorded.find(checkpoints_of(run / "checkpoints", u.model)); own != recorded.end())
      by_folder[u.path()] = own->second;
  for (base_use& u : uses) u.digest = by_folder[u.path()];
}

[[noreturn]] void refuse_unused(const std::string& folder, const std::string& digest, const fs::path& run,
                                const std::map<fs::path, std::string>& recorded) {
  std::vector<std::string> others;
  for (const auto& [of_model, began] : recorded)
    others.push_back(fmt::format("{}: {}", of_model.filename().string(), began));
  if (others.empty()) others.emplace_back("no checkpoint says from which");
  refuse(fmt::format("--base: the weights in \"{}\" have the digest {}, but the models of \"{}\" did not begin from "
                     "these ({})",
                     shown(folder), digest, run.string(), fmt::join(others, ", ")));
}

[[noreturn]] void refuse_missing(const base_use& u) {
  refuse(u.from->where, "model.chain.from",
         fmt::format("\"{}\", which {} began from, is not there: give its folder by --base FOLDER{}", shown(u.path()),
                     shown(u.model), u.digest.empty() ? "" : fmt::format(" (digest of its weights: {})", u.digest)));
}

}  // namespace

moved_bases::moved_bases(const std::vector<std::string>& folders) {
  for (const std::string& f : folders) {
    if (kind_of(f, "--base") != fs::file_type::directory)
      refuse(fmt::format("--base: \"{}\" is not a folder; the folder of a checkpoint is needed", shown(f)));
    folders_.push_back({fs::absolute(f).lexically_normal().string(), weights_identity(f)});
  }
}

void moved_bases::place(value_list& models, const fs::path& run) const {
  std::error_code ignored;
  if (!fs::is_regular_file(run / workload_file, ignored)) {
    if (given()) refuse(fmt::format("--base: \"{}\" is not a run folder: it holds no {}", run.string(), workload_file));
    return;
  }
  std::vector<base_use> uses = uses_in(models);
  if (!given() && std::ranges::all_of(uses, &base_use::is_there)) return;
  const auto recorded = recorded_digests(run);
  take_digests(uses, run, recorded);
  for (const auto& [path, digest] : folders_)
    if (std::ranges::none_of(recorded, [&](const auto& r) { return r.second == digest; }))
      refuse_unused(path, digest, run, recorded);
  for (const base_use& u : uses) {
    const auto now = std::ranges::find(folders_, u.digest, &folder::digest);
    if (now == folders_.end() && !u.is_there()) refuse_missing(u);
    if (now != folders_.end()) *u.from->as<std::string>() = now->path;
  }
}

void moved_bases::place(value_table& workload, const fs::path& run) const {
  if (auto* const models = content_of<value_list>(workload.find("model"))) place(*models, run);
}

path_places moved_bases::places(const fs::path& began_in, const fs::path& run) const {
  return {began_in, [this, run](value_table& workload) { place(workload, run); }};
}

}  // namespace hydra::apps
