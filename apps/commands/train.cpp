#include "apps/commands/train.hpp"

#include "actors/session.hpp"
#include "apps/commands/run_folder.hpp"
#include "apps/commands/set_option.hpp"
#include "apps/workload/assemble.hpp"
#include "apps/workload/workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

namespace hydra::apps {

namespace {

struct train_options {
  std::string file;
  std::optional<std::string> output;
  std::optional<std::string> policy;
  std::vector<std::string> set;
  bool quiet = false;
};

key_override override_by(const char* option, const char* path, const std::string& text) {
  return {path, text_value(text, {std::make_shared<std::string>(option), 0})};
}

std::vector<key_override> overrides(const train_options& o) {
  std::vector<key_override> all = parse_overrides(o.set);
  if (o.output) all.push_back(override_by("--output", "run.output", *o.output));
  if (o.policy) all.push_back(override_by("--policy", "run.policy", *o.policy));
  return all;
}

session_options options_of(const workload& w, const train_options& o) {
  session_options s = w.options;
  s.log = o.quiet ? verbosity::quiet : verbosity::normal;
  s.progress = !o.quiet;
  return s;
}

int status_of(const report& r) {
  const auto failed = [](const model_report& m) { return m.status == model_status::failed; };
  return std::ranges::any_of(r.models, failed) ? 1 : 0;
}

int train(const train_options& o) {
  const workload w = read_workload(o.file, overrides(o));
  check_output(w.output_place, w.options.output);
  session s{options_of(w, o)};
  assemble(s, w);
  s.plan();
  make_run_folder(w.output_place, w.options.output, w.expanded);
  const report r = s.run();
  fmt::print("{}", to_table(r));
  return status_of(r);
}

}  // namespace

command_action declare_train(CLI::App& app) {
  auto o = std::make_shared<train_options>();
  app.add_option("workload", o->file, "workload file (TOML)")->required();
  app.add_option("--output", o->output, "run folder, must not exist (default: [run] output, else runs/<name>)");
  app.add_option("--policy", o->policy, "scheduling policy instead of the file's");
  add_set_option(app, o->set);
  app.add_flag("--quiet", o->quiet, "no progress and no log on stderr");
  return [o] { return train(*o); };
}

}  // namespace hydra::apps
