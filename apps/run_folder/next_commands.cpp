#include "apps/run_folder/next_commands.hpp"

#include "apps/run_folder/saved_run.hpp"
#include "apps/run_folder/shell_word.hpp"
#include "models/families/exported_folder.hpp"
#include "partition/checkpoint/checkpoint_folder.hpp"
#include "runtime/base/path_kind.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <variant>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

bool keeps_best(const fs::path& run, const std::string& model) {
  return best_checkpoint(checkpoints_of(run / "checkpoints", model)).has_value();
}

bool is_saved(const fs::path& run, const std::string& model) {
  return keeps_best(run, model) || !list_checkpoints(checkpoints_of(run / "checkpoints", model)).empty();
}

/// "runs/sweep-gpt-a" of runs/sweep: its parent is there, and the run folder stays as it is.
std::string export_folder(const fs::path& run, std::string model) {
  std::ranges::replace(model, '/', '-');
  fs::path folder = without_end(run);
  if (folder.filename() == "." || folder.filename() == "..") folder = fs::canonical(folder);
  return folder.string() + "-" + model;
}

bool writes_text(const chain_description& d) {
  return d.family != exported_family && d.context > 0 && d.form == sample_form::causal;
}

/// As the model's data begin: with a message, a text, or ids where there is no tokenizer.
const char* request(const data_description& data, const chain_description& d) {
  if (std::holds_alternative<chat_files>(data.what)) return "--chat \"...\"";
  return tokenizer_for(data, d.wants()) ? "--prompt \"...\"" : "--prompt-ids \"1 2 3\"";
}

}  // namespace

std::vector<std::string> next_commands(const fs::path& run, const model_report& m) try {
  if (!is_saved(run, m.name)) return {};
  const workload w = read_run(run);
  const model_entry& entry = find_model(w, m.name);
  const chain_description& d = entry.description.chain;
  const char* const best = keeps_best(run, m.name) ? " --best" : "";
  const std::string folder = shell_word(run.string()), model = shell_word(m.name);
  std::vector<std::string> lines{
      fmt::format("hydra export {} {} {}{}", folder, model, shell_word(export_folder(run, m.name)), best)};
  if (writes_text(d)) {
    lines.push_back(fmt::format("hydra generate {} --model {}{} {}", folder, model, best,
                                request(w.data.at(entry.data).description, d)));
  }
  return lines;
} catch (const std::exception&) {
  return {};  // what a workload needs to be read may have gone since
}

std::string note_on_state(const fs::path& run, const model_report& m) try {
  const validation_report* const best = best_validation(m);
  if (!best || best->step == m.steps || !is_saved(run, m.name) || keeps_best(run, m.name)) return "";
  return fmt::format("the state after step {} is not kept (validate.keep_best keeps it): this is the one after step {}",
                     best->step, m.steps);
} catch (const std::exception&) {
  return "";
}

}  // namespace hydra::apps
