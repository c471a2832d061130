#pragma once
// A workload file, read and validated: everything a session needs, nothing started.

#include "actors/selection/search_settings.hpp"
#include "actors/session/session.hpp"
#include "apps/workload/device_kinds.hpp"
#include "apps/workload/override.hpp"
#include "apps/workload/policy_keys.hpp"
#include "apps/workload/value.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hydra::apps {

/// One model; a grid's member is one of its own. `keys` says where its parts were written.
struct model_entry {
  model_description description;  ///< except `data`
  std::string data;               ///< NAME of [data.NAME]
  value keys;
};

/// One [data.NAME].
struct data_entry {
  data_description description;
  place where;
};

struct workload {
  place file;  ///< its first line
  session_options options;
  place output_place;  ///< what chose options.output
  std::vector<plugin_file> plugins;
  named_choice policy;
  std::vector<device_entry> devices;
  std::map<std::string, data_entry> data;
  std::vector<model_entry> models;
  std::vector<value> controllers;  ///< each [[controller]], checked
  std::optional<search_settings> search;
  value_table as_run;  ///< the file, grids and searches expanded, with what the command line or the file's name decided
  std::string expanded;  ///< `as_run` as TOML
  std::vector<std::string> notes;  ///< on keys of the file that are not used
};

/// Where the files and folders are that a workload names.
struct path_places {
  std::filesystem::path began_in;                 ///< relative paths start there; empty: at the working directory
  std::function<void(value_table& root)> moved;   ///< of what is elsewhere now; it sees grids expanded
  path_places(std::filesystem::path began = {}, std::function<void(value_table&)> change = nullptr)
      : began_in(std::move(began)), moved(std::move(change)) {}
};

/// Reads and validates a file with its paths as they are now. Its plug-ins are loaded, those of Hydra's own devices are
/// not; their relative paths start at the folder of the file. Throws fault_error{bad_input} with
/// `file:line: key: what is wrong, what is allowed`.
workload read_workload(const std::filesystem::path& file, const std::vector<key_override>& overrides = {},
                       const path_places& places = {});

/// The same for a text; `name` is named in messages, its stem is the default name of the run.
workload parse_workload(std::string_view text, const std::string& name,
                        const std::vector<key_override>& overrides = {}, const path_places& places = {});

/// That of a run which is only read: its policy, search and plug-ins are left out, so that no code runs because the
/// file names it. Throws as read_workload() does, and for devices of a plug-in that `overrides` do not name.
workload read_workload_of_run(const std::filesystem::path& file, const std::vector<key_override>& overrides,
                              const path_places& places);

/// The [[model]] tables of a text, grids expanded; `name` is named in messages. Throws fault_error{bad_input}, also for
/// anything else in it.
value_list parse_models(std::string_view text, const std::string& name);

/// The workload with more models, which come last and are not trials of its search. Throws fault_error{bad_input}.
workload with_models(const workload& w, const value_list& models);

/// The workload without some that were added to it.
workload without_models(const workload& w, const std::vector<std::string>& names);

/// Only its data, search and models, of which `no_trials` names those that the search does not have: devices, policy
/// and what models begin from are left out, and with them the plug-ins, which only they may need. If `began_in` is
/// given, the files that the data are read from are left out, too.
workload read_models(const std::filesystem::path& file, const path_places& places = {},
                     const std::vector<std::string>& no_trials = {});

}  // namespace hydra::apps
