#include "apps/commands/commands.hpp"

#include "actors/admission/identity.hpp"
#include "actors/cluster/network.hpp"
#include "actors/session/session.hpp"
#include "apps/commands/after_interrupt.hpp"
#include "apps/commands/end_of_run.hpp"
#include "apps/commands/exit_status.hpp"
#include "apps/commands/given_workload.hpp"
#include "apps/commands/interrupts.hpp"
#include "apps/commands/notes.hpp"
#include "apps/commands/resume.hpp"
#include "apps/commands/search_log.hpp"
#include "apps/commands/shared_options.hpp"
#include "apps/commands/train_cluster.hpp"
#include "apps/report/result.hpp"
#include "apps/run_folder/added_models.hpp"
#include "apps/run_folder/cluster_file.hpp"
#include "apps/run_folder/folder_lock.hpp"
#include "apps/run_folder/moved_bases.hpp"
#include "apps/run_folder/recorded_data.hpp"
#include "apps/run_folder/resume_command.hpp"
#include "apps/run_folder/run_context.hpp"
#include "apps/run_folder/run_folder.hpp"
#include "apps/run_folder/shell_word.hpp"
#include "apps/run_folder/stopped_models.hpp"
#include "apps/steering/entrances.hpp"
#include "apps/steering/session_steering.hpp"
#include "apps/steering/trial_copies.hpp"
#include "apps/workload/assemble.hpp"
#include "apps/workload/chosen_parallel.hpp"
#include "apps/workload/equal_trials.hpp"
#include "apps/workload/node_session.hpp"
#include "apps/workload/run_keys.hpp"
#include "apps/workload/workload.hpp"
#include "runtime/base/counted.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/base/tell_line.hpp"
#include "runtime/storage/leftovers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hydra::apps {

namespace {

/// What the models of a workload read, for them and for those that are added.
struct opened_workload {
  model_opener& opener;
  std::map<std::string, std::shared_ptr<const data_source>> sources;
};

struct train_options {
  std::string file;
  std::optional<std::string> output;
  std::optional<std::string> policy;
  std::vector<std::string> plugins;
  std::vector<std::string> set;
  std::vector<std::string> bases;
  std::optional<std::string> serve;
  std::optional<std::string> listen;
  std::optional<std::string> keys;
  std::uint64_t nodes = 1;
  bool no_local = false;
  bool resume = false;
  bool quiet = false;
  bool details = false;
};

key_override override_by(const char* option, const char* path, const std::string& text) {
  return {path, text_value(text, {std::make_shared<std::string>(option), 0})};
}

std::vector<key_override> overrides(const train_options& o) {
  std::vector<key_override> all = parse_overrides(o.set, o.plugins);
  if (o.output) all.push_back(override_by("--output", "run.output", *o.output));
  if (o.policy) all.push_back(override_by("--policy", "run.policy", *o.policy));
  return all;
}

session_options options_of(const workload& w, const train_options& o) {
  session_options s = w.options;
  s.log = o.quiet ? verbosity::quiet : verbosity::normal;
  s.progress = !o.quiet;
  s.resume = o.resume;
  if (o.resume) s.stopped = read_stopped(w.options.output);
  s.keep_parameters = false;  // the checkpoints have them
  return s;
}

/// Refuses a folder that this run must not write to or could not start in. Changes nothing.
void check_folders(const workload& w, const train_options& o) {
  check_working_directory();
  if (!o.resume) return check_output(w.output_place, w.options.output);
  const std::string afresh = check_resume(w, moved_bases{o.bases});
  if (!afresh.empty()) tell_line(afresh);  // with --quiet, too: the name of the folder may be mistyped
}

void lock_folder(const workload& w, std::optional<folder_lock>& lock) {
  lock.emplace(w.options.output);
  if (lock->taken())
    refuse(w.output_place, "run.output",
           fmt::format("another run is under way in \"{}\": wait for its end, or choose another folder by --output",
                       w.options.output.string()));
}

/// Nobody else writes to the folder of a run that is resumed from now on; what a killed process was writing there is
/// removed.
void enter_folder(const workload& w, const train_options& o, std::optional<folder_lock>& lock) {
  if (o.resume && std::filesystem::is_directory(w.options.output)) lock_folder(w, lock);
  check_folders(w, o);
  if (lock) remove_leftovers(posix_file_system(), w.options.output);
}

/// With the port that was chosen for the run, which its nodes know.
std::string listen_again(const train_options& o, const workload& w) {
  network_address at = parse_address(*o.listen);
  const auto known = at.port == 0 ? read_cluster(w.options.output) : std::nullopt;
  if (known) at.port = parse_address(known->address).port;
  return to_string(at);
}

std::string command_that_resumes(const train_options& o, const workload& w) {
  std::string line = "hydra train " + shell_word(o.file) + " --resume";
  if (o.output) line += " --output " + shell_word(*o.output);
  if (o.policy) line += " --policy " + shell_word(*o.policy);
  for (const std::string& file : o.plugins) line += " --plugin " + shell_word(file);
  for (const std::string& set : o.set) line += " --set " + shell_word(set);
  for (const std::string& base : o.bases) line += " --base " + shell_word(base);
  if (o.listen) line += " --listen " + shell_word(listen_again(o, w));
  if (o.keys) line += " --keys " + shell_word(*o.keys);
  if (o.nodes > 1) line += fmt::format(" --nodes {}", o.nodes);
  if (o.no_local) line += " --no-local";
  return line;
}

std::string how_to_go_on(const std::string& why, const workload& w, const train_options& o) {
  return after_interrupt(why, w.options, command_that_resumes(o, w));
}

/// `logged`: notes that the log has shown already.
void tell(report r, const workload& w, const train_options& o, const std::vector<std::string>& logged = {}) {
  recorded_run run = with_context(r, w.options.output);
  add_next(run, w.options.output);
  fmt::print("{}", printable(end_of(run, o.details)));
  r.notes = std::move(run.summary.notes);
  std::erase_if(r.notes, [&](const std::string& note) { return std::ranges::count(logged, note) > 0; });
  tell_notes(r.notes);
  if (const exit_status status = status_of(r); status == exit_status::some_failed)
    tell_line(fmt::format("exit status {}: {}", static_cast<int>(status), failures_of(r)));
  if (r.interrupted) return tell_line(how_to_go_on("interrupted", w, o));
  if (const std::string folder = w.options.output.string(); !o.quiet && !folder.empty())
    tell_line(fmt::format("the run is in \"{}\": hydra report {} shows it again{}", folder, shell_word(folder),
                          o.details ? "" : ", with --details also devices and bounds"));
}

/// Reports a complete run; its files are kept unchanged.
int tell_complete(const workload& w, const train_options& o) {
  const std::string folder = w.options.output.string();
  if (!o.quiet)
    tell_line(fmt::format("the run in \"{}\" is complete: nothing is left to do; hydra report {} shows it", folder,
                          shell_word(folder)));
  return exit_status::all_done;
}

/// The run was planned to start afresh: a folder that exists by now belongs to another run, with --resume or without.
void claim_folder(const workload& w, std::optional<folder_lock>& lock) {
  make_run_folder(w.output_place, w.options.output);
  lock_folder(w, lock);
}

std::optional<live_address> page_of(const train_options& o) {
  return o.serve ? std::optional{parse_live_address(*o.serve)} : std::nullopt;
}

/// Removes the folder of a run that cannot start: otherwise the same command would be refused.
report run_in_folder(session& s, const workload& w, const opened_workload& opened, const train_options& o,
                     trial_copies& copies, bool is_new) try {
  record_workload(w.options.output, w.expanded);
  record_data(w.options.output, opened.sources, data_files(w));
  session_steering steered{s, w, opened.opener};
  const entrances both{steered, w.options.output, page_of(o)};
  const copying_thread copying{copies, steered};
  report r = s.run();
  steered.ended(r);
  return r;
} catch (...) {
  if (is_new) remove_unused(w.options.output);
  throw;
}

/// Steps in parallel that were left to the planner are now numbers, in the run folder, too.
std::string pieces_text(const model_plan& m) {
  if (m.pieces == 1) return "";
  return fmt::format(", pieces = {}{}", m.pieces, m.groups.empty() ? "" : ", side_by_side = true");
}

void take_choices(workload& w, const workload_plan& plan, bool quiet) {
  if (!has_choices(w)) return;
  for (const model_plan& m : plan.models)
    if (!quiet)
      tell_line(fmt::format("{}: parallel = {{ replicas = {}, waves = {}{} }}, {}", m.name, m.replicas, m.waves,
                            pieces_text(m),
                            counted(m.shards.size(), "shard")));
  set_chosen(w, plan);
}

void tell_idle_devices(const workload_plan& plan, std::size_t devices, const train_options& o) {
  const std::string note = idle_devices_note(plan, devices, shell_word(o.file));
  if (!o.quiet && !note.empty()) tell_line("note: " + note);
}

/// The plan; a refusal because of the data names their files that have changed since the run started.
const workload_plan& plan_of(session& s, const workload& w, const train_options& o) try {
  return s.plan();
} catch (const fault_error& e) {
  const fault& f = e.what_happened();
  if (!o.resume || f.code != fault_code::bad_input || !is_about_data(f.text)) throw;
  const auto recorded = read_recorded_data(w.options.output);
  const std::string changed = recorded ? changed_files(recorded->files, data_files(w)) : "";
  if (changed.empty()) throw;
  throw fault_error{f.code, fmt::format("{}; {}", f.text, changed)};
}

void tell_notes_on_file(const workload& w, const train_options& o) {
  if (o.quiet || o.resume) return;
  tell_notes(w.notes);
  if (const auto note = note_on_equal_trials(w)) tell_notes({*note});
}

int train(workload w, const train_options& o, const blocked_signals& blocked) {
  std::optional<folder_lock> lock;
  enter_folder(w, o, lock);
  trial_copies copies;
  session s{options_of(w, o)};
  std::optional<interrupts> watch;
  watch.emplace(blocked, how_to_go_on("interrupted before anything was trained", w, o));
  model_opener opener{w};
  const opened_workload opened{opener, assemble(s, w, opener)};
  add_search(s, w, o.resume, copies);
  tell_notes_on_file(w, o);
  const workload_plan& plan = plan_of(s, w, o);
  take_choices(w, plan, o.quiet);
  tell_idle_devices(plan, s.devices().size(), o);
  if (o.resume && tells_end(w.options.output) && s.complete()) return tell_complete(w, o);
  watch.emplace(blocked, [&s] { s.interrupt(); });
  const bool is_new = !lock;
  if (is_new) claim_folder(w, lock);
  const report r = run_in_folder(s, w, opened, o, copies, is_new);
  tell(r, w, o, o.quiet ? std::vector<std::string>{} : s.notes());
  return status_of(r);
}

/// The same on the machines that join.
int train_on_nodes(const workload& w, const train_options& o, const blocked_signals& blocked) {
  check_for_cluster(w);
  std::optional<folder_lock> lock;
  enter_folder(w, o, lock);
  if (lock && tells_end(w.options.output) && is_complete_on_cluster(w)) return tell_complete(w, o);
  const bool is_new = !lock;
  if (is_new) claim_folder(w, lock);
  tell_notes_on_file(w, o);
  try {
    const cluster_train_options how{*o.listen, o.keys, o.nodes, !o.no_local, o.resume, page_of(o), o.quiet};
    const report r = train_on_cluster(w, how, blocked);
    tell(r, w, o);
    return status_of(r);
  } catch (...) {
    if (is_new) remove_unused(w.options.output);
    throw;
  }
}

/// Of a workload file; where its run is continued, the folders that models began from may have moved.
workload workload_of_file(const train_options& o, const moved_bases& bases) {
  if (!o.resume) return read_given_workload(o.file, overrides(o));
  const std::string name = std::filesystem::path{o.file}.stem().string();
  return read_given_workload(o.file, overrides(o),
                             {{}, [&](value_table& root) { bases.place(root, output_of(root, name)); }});
}

/// Of a workload file, or as the folder of a run has recorded it.
workload workload_of(const train_options& o, const moved_bases& bases) {
  const std::filesystem::path run{o.file}, recorded = run / workload_file;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(recorded, ignored)) return workload_of_file(o, bases);
  if (!o.resume)
    refuse(
        fmt::format("\"{0}\" is the folder of a run: hydra train {1} --resume continues it; to train afresh, give a "
                    "workload file",
                    shown(o.file), shell_word(o.file)));
  if (const std::filesystem::path there = place_to_resume(run); !there.empty())
    refuse(
        fmt::format("the run in \"{}\" began in \"{}\", where the paths of its workload start; continue it there: {}",
                    shown(o.file), shown(there.string()), resume_command(run)));
  auto all = overrides(o);
  if (!o.output) all.push_back(override_by("the run folder", "run.output", o.file));
  return read_workload(recorded, all, bases.places({}, run));
}

/// A run that was interrupted while it was planned is continued like any other.
int train_or_tell(const train_options& o) {
  const blocked_signals blocked;  // before any thread is created
  const moved_bases bases{o.bases};
  workload w = workload_of(o, bases);
  if (o.serve) parse_live_address(*o.serve);
  if (o.resume) {
    w = with_added(w, bases);
    keep_choices(w);
  }
  try {
    return o.listen ? train_on_nodes(w, o, blocked) : train(w, o, blocked);
  } catch (const fault_error& e) {
    if (e.what_happened().code != fault_code::interrupted) throw;
    tell_line(how_to_go_on(e.what_happened().text, w, o));
    return exit_status::interrupted;
  }
}

}  // namespace

command_action declare_train(command_line& line) {
  auto o = std::make_shared<train_options>();
  line.add_option("workload", o->file, "workload file (TOML); with --resume also the folder of a run").required();
  line.add_option("--output", o->output,
                 "run folder, must not exist unless resumed (default: [run] output, else runs/<name>)");
  line.add_option("--policy", o->policy, "scheduling policy instead of the file's: a name, or the path of a plug-in");
  add_plugin_option(line, o->plugins);
  add_set_option(line, o->set);
  const declared_option resume = line.add_flag(
      "--resume", o->resume,
      "continues in the run folder; host, policy, plugins, optimizer_on, cuts, waves, priority, deadline, arrival, "
      "checkpoint, ablation, tensorboard, currency, grams_per_kwh, objective, output, under a constant schedule "
      "steps and epochs, and of devices all but kind, threads, precision, gradients and tf32 may have changed");
  add_base_option(line, o->bases).needs(resume);
  line.add_option(
          "--serve", o->serve,
          "shows the run on a page, from which it can also be steered, and prints its URL (default: 127.0.0.1 and a "
          "free port; see docs/control.md)")
      .optional("[ADDRESS:PORT]", "127.0.0.1:0");
  const auto listen =
      line.add_option("--listen", o->listen,
                      "trains on several machines: hydra node joins there (default: 127.0.0.1 and a free port; see "
                      "docs/cluster.md)")
          .optional("[ADDRESS:PORT]", "127.0.0.1:0");
  line.add_option("--keys", o->keys,
                  "folder with the keys of the cluster, made by hydra cluster keys (default: keys of this run, in its "
                  "folder until it has completed)")
      .needs(listen);
  line.add_option("--nodes", o->nodes,
                  "of --listen: waits for this many nodes, this process included, before it begins")
      .needs(listen);
  line.add_flag("--no-local", o->no_local, "of --listen: this process trains no models itself").needs(listen);
  line.add_flag("--quiet", o->quiet,
                "no progress on stderr, and of the log only warnings; notes about errors are printed");
  line.add_flag("--details", o->details, details_help);
  return [o] { return train_or_tell(*o); };
}

}  // namespace hydra::apps
