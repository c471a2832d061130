#include "apps/commands/commands.hpp"

#include "apps/commands/first_workload.hpp"
#include "apps/commands/notes.hpp"
#include "apps/commands/written_file.hpp"
#include "apps/workload/assemble.hpp"
#include "apps/workload/matching_files.hpp"
#include "apps/workload/workload.hpp"
#include "runtime/base/counted.hpp"
#include "runtime/base/path_kind.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/storage/atomic_file.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

struct init_options {
  std::string folder, output = "workload.toml";
  std::vector<std::string> files;
};

/// Patterns as in a workload.
std::vector<fs::path> given_files(const std::vector<std::string>& given) {
  std::vector<fs::path> files;
  for (const std::string& each : given) {
    const std::vector<fs::path> matching = matching_files(each);
    for (const fs::path& file : matching)
      if (kind_of(file) == fs::file_type::not_found) refuse(file, "there is no such file");
    if (matching.empty()) refuse(fmt::format("no file matches \"{}\"", shown(each)));
    files.insert(files.end(), matching.begin(), matching.end());
  }
  return files;
}

/// For the user.
struct opened_data {
  std::string what;
  std::vector<std::string> notes;
};

/// Opens data and model, as a training does. An epoch has eight steps or more where there are samples for them.
opened_data fit(first_workload& w, const std::string& file) {
  constexpr std::size_t most_of_batch = 8, fewest_steps = 8;
  const workload read = parse_workload(to_text(w, file), file);
  const model_description m = model_opener{read}.open(read.models.front(), read.models);
  const data_source& source = *std::get<std::shared_ptr<const data_source>>(m.data.what);
  const std::size_t samples = source.samples(split::train), others = source.samples(split::validation);
  w.batch_size = most_of_batch;
  while (w.batch_size > 1 && samples < fewest_steps * w.batch_size) w.batch_size /= 2;
  w.steps_of_epoch = samples / w.batch_size;
  w.validates = others > 0;
  return {fmt::format("{}: {} to train on, {} to validate on", source.describe(), counted(samples, "sample"), others),
          source.notes()};
}

/// With records that cannot be read it fits if they are left out.
opened_data fit_leniently(first_workload& w, const std::string& file) try {
  return fit(w, file);
} catch (const fault_error& e) {
  first_workload other = w;
  other.leaves_out = true;
  try {
    opened_data data = fit(other, file);
    w = other;
    return data;
  } catch (const fault_error&) {
  }
  throw fault_error{e.what_happened().code, fmt::format("{} is not written: {}", file, e.what_happened().text)};
}

int write_first_workload(const init_options& o) {
  first_workload w = find_first_workload(o.folder, given_files(o.files));
  check_written_file("--output", o.output);
  const opened_data data = fit_leniently(w, o.output);
  const std::string text = to_text(w, o.output);
  parse_workload(text, o.output);  // what is written can be read
  write_atomically(o.output, text);
  fmt::print("{}\n{} is written; next: hydra plan {}\n", printable(data.what), printable(o.output),
             printable(o.output));
  tell_notes(data.notes);
  return 0;
}

}  // namespace

command_action declare_init(command_line& line) {
  auto o = std::make_shared<init_options>();
  line.add_option("folder", o->folder, "of a checkpoint, with config.json and model.safetensors").required();
  line.add_option(
          "data", o->files,
          "JSON lines or arrays (conversations, Alpaca, prompts and completions, texts), a table (.csv, .tsv), a "
          "text, or a folder of images by class; patterns such as \"data/*.jsonl\"")
      .required();
  line.add_option("--output", o->output, "file to write, must not exist").shows_default();
  line.example("hydra init llama talks.jsonl");
  return [o] { return write_first_workload(*o); };
}

}  // namespace hydra::apps
