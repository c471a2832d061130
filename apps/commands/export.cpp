#include "apps/commands/commands.hpp"

#include "apps/commands/exported_texts.hpp"
#include "apps/commands/shared_options.hpp"
#include "apps/run_folder/files_of_training.hpp"
#include "apps/run_folder/metrics_record.hpp"
#include "apps/run_folder/resume_command.hpp"
#include "apps/run_folder/saved_run.hpp"
#include "apps/run_folder/saved_weights.hpp"
#include "models/frozen/base_encoding.hpp"
#include "models/weights/adapter_folder.hpp"
#include "models/weights/hub_export.hpp"
#include "models/weights/joined_values.hpp"
#include "models/weights/merged_values.hpp"
#include "models/weights/stored_values.hpp"
#include "partition/checkpoint/checkpoint_folder.hpp"
#include "partition/checkpoint/checkpoint_tensors.hpp"
#include "partition/checkpoint/checkpoint_weights.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/path_kind.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/tell_line.hpp"
#include "runtime/storage/durable_folder.hpp"
#include "runtime/storage/free_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

struct export_options {
  std::string run, model, folder;
  std::vector<std::string> bases;
  bool best = false, merge = false, ignore_nan = false;
  std::optional<std::uint64_t> step;
};

void check_target(const fs::path& folder) {
  if (folder.empty()) refuse("the folder to export into has no name: \"\" is written");
  if (kind_of(folder) != fs::file_type::not_found || fs::is_symlink(folder))
    refuse(
        fmt::format("\"{}\" exists and is not overwritten: move it away, or choose another folder", folder.string()));
  const fs::path parent = fs::absolute(folder).parent_path();
  if (kind_of(parent) != fs::file_type::directory)
    refuse(fmt::format("there is no folder \"{}\" to export into", parent.string()));
}

/// The parameters as the checkpoint has them; frozen ones, which it does not hold, are those that were computed with.
class exported_values {
 public:
  exported_values(const saved_model& from, const chain& model, bool ignore_nan)
      : ignore_nan_(ignore_nan),
        folder_(from.folder),
        step_(steps_in(from)),
        tensors_(from.folder, from.cuts.size()),
        weights_(checkpoint_weights(from.folder, model)) {}

  /// Throws if its shape or type in the checkpoint differs from the model's, or for values that are not finite.
  stored_tensor of(const parameter_spec& p) {
    if (p.frozen) return frozen(p);
    const stored_tensor t = tensors_.find("parameter." + p.name);
    if (t.shape != p.shape || t.type != stored_type::f32)
      refuse(fmt::format("{}: parameter '{}' has another shape or type than the model's", folder_.string(), p.name));
    if (!ignore_nan_) check_finite(p, t);
    return t;
  }

 private:
  void check_finite(const parameter_spec& p, const stored_tensor& t) const {
    const std::span values{reinterpret_cast<const float*>(t.data.data()), t.data.size() / sizeof(float)};
    if (const std::size_t wrong = not_finite_in(values))
      refuse(
          fmt::format("{}: {} of the {} values of {} are not finite: its training has diverged. {}this one by "
                      "--ignore-nan",
                      folder_.string(), wrong, values.size(), p.name, other_states()));
  }

  std::string other_states() const {
    const std::string options = options_before(folder_.parent_path(), step_);
    return options.empty() ? "No state from before that is saved; export "
                           : fmt::format("Export a state from before that by {}, or ", options);
  }

  stored_tensor frozen(const parameter_spec& p) {
    frozen_.resize(static_cast<std::size_t>(p.elements()));
    weights_->read(p, frozen_);
    round_as_stored(p.stored, frozen_);
    return {stored_type::f32, p.shape, std::as_bytes(std::span{frozen_})};
  }

  bool ignore_nan_;
  fs::path folder_;
  std::uint32_t step_;
  checkpoint_tensors tensors_;
  std::shared_ptr<const weight_source> weights_;
  std::vector<float> frozen_;  ///< the last one that was asked for
};

/// The step whose state a user expects, as far as the run folder shows it.
std::uint32_t expected_step(const export_options& o) try {
  const recorded_run run = latest_record(o.run);
  const auto m = std::ranges::find(run.summary.models, o.model, &model_report::name);
  if (m == run.summary.models.end()) return 0;
  const validation_report* const best = best_validation(*m);
  return !o.best ? m->steps : best ? best->step : 0;
} catch (const fault_error&) {
  return 0;  // unknown
}

/// What a model that has diverged was saved with before that is no result, unless it is asked for.
void check_failure(const export_options& o) {
  if (o.step || o.best || o.ignore_nan) return;
  const std::string why = divergence_of(o.run, o.model);
  if (why.empty()) return;
  const std::string options = options_before(checkpoints_of(fs::path{o.run} / "checkpoints", o.model));
  if (options.empty()) return;  // chosen_checkpoint() says it
  refuse(fmt::format("{} has failed: {}. Export a state from before that by {}, or the newest one by --ignore-nan",
                     o.model, why, options));
}

/// Refuses a checkpoint that is older than expected: a later one may not have been written (disk full, run killed).
void check_step(const export_options& o, std::uint32_t step) {
  if (o.step && *o.step != step)
    refuse(fmt::format("--step {}: the best evaluation that is kept of {} was after step {}", *o.step, o.model, step));
  if (const std::uint32_t expected = expected_step(o); !o.step && !o.ignore_nan && expected > step)
    refuse(fmt::format("{} {} step {}, but step {} is saved: export this state by --step {}, or continue the run: {}",
                       o.model, o.best ? "was best at" : "has reached", expected, step, step, resume_command(o.run)));
}

fs::path chosen_checkpoint(const export_options& o) {
  return o.step && !o.best ? checkpoint_of_step(o.run, o.model, *o.step) : checkpoint_to_read(o.run, o.model, o.best);
}

/// Before files that may be large are begun: `written` has the parameters of the export, an adapter only its own.
void require_room(const fs::path& target, const chain& written, bool adapter) {
  byte_count needed;
  for (const parameter_spec& p : written.parameters())
    if (p.tied_to.empty() && !(adapter && p.frozen))
      needed += byte_count{static_cast<std::uint64_t>(p.elements()) * sizeof(float)};
  const auto free = free_space(target);
  if (free && needed > *free)
    throw fault_error{fault_code::does_not_fit,
                      fmt::format("the export takes {}, but the file system of \"{}\" has {} free: make room, or "
                                  "choose another folder",
                                  to_string(needed), target.string(), to_string(*free))};
}

int export_model(const export_options& o) {
  const fs::path target = without_end(o.folder);
  const workload w = read_run(o.run, moved_bases{o.bases});
  const model_entry& m = find_model(w, o.model);
  check_target(target);
  check_failure(o);
  const fs::path checkpoint = chosen_checkpoint(o);
  const saved_model saved = read_checkpoint(checkpoint);
  check_step(o, steps_in(saved));
  const chain_description& d = m.description.chain;
  const data_description& data = w.data.at(m.data).description;
  require_tokenizer_of_training(checkpoint, data, d.wants());
  durable_folder into{posix_file_system(), target};
  exported_texts texts{data, d};
  texts.write_tokenizer(into);
  const chain model = build_chain(o.run, w, m, d);
  require_chain_of_training(checkpoint, d, model);
  if (o.merge && !adapter_of(model))
    refuse(fmt::format("--merge: {} has no adapter; what it has trained is exported as a whole without this", o.model));
  exported_values values{saved, model, o.ignore_nan};
  const stored_values stored = [&values](const parameter_spec& p) { return values.of(p); };
  if (adapter_of(model) && !o.merge) {
    require_room(target, model, true);
    texts.write_ends(into, model);
    write_adapter_files(into, model, stored, d.checkpoint);
  } else {
    const chain whole = texts.write_settings(into, o.merge ? without_adapter(model) : chain{model}.join());
    require_room(target, whole, false);
    write_hub_files(into, whole, o.merge ? merged_values(model, stored) : joined_values(model, stored));
  }
  into.commit();
  fmt::print("{}\n", target.string());
  const char* const what = o.merge             ? "the weights, with the adapter merged,"
                           : adapter_of(model) ? "the adapter"
                                               : "the weights";
  tell_line(fmt::format("{} of {} after step {} of {}", what, o.model, steps_in(saved), saved.steps));
  if (adapter_of(model) && !o.merge && model.base() != base_format::as_computed)
    tell_line(fmt::format("note: it was trained over a base in {}: load the base so, or export with --merge",
                          to_string(model.base())));
  return 0;
}

}  // namespace

command_action declare_export(command_line& line) {
  auto o = std::make_shared<export_options>();
  line.add_option("run", o->run, "run folder").required();
  line.add_option("model", o->model, "name of one of its models").required();
  line.add_option("folder", o->folder,
                  "for config.json, model.safetensors (of an adapter: adapter_config.json, "
                  "adapter_model.safetensors) and the tokenizer's files; must not exist")
      .required();
  add_base_option(line, o->bases);
  line.add_flag("--best", o->best, "the checkpoint of the best evaluation (validate.keep_best) instead of the newest");
  line.add_flag("--merge", o->merge, "the whole model, with its adapter merged into the weights");
  line.add_option("--step", o->step, "the state after this many steps, although the run has continued since");
  line.add_flag("--ignore-nan", o->ignore_nan,
                "also values that are not finite, and the newest state of a model that "
                "has failed by such");
  line.example("hydra export runs/workload llama-lr4e-4 adapter");
  return [o] { return export_model(*o); };
}

}  // namespace hydra::apps
