#include "apps/commands/export.hpp"

#include "apps/commands/run_folder.hpp"
#include "apps/commands/saved_weights.hpp"
#include "apps/commands/tokenizer_files.hpp"
#include "apps/workload/workload.hpp"
#include "models/hub/hub_export.hpp"
#include "partition/checkpoint_tensors.hpp"
#include "partition/saved_model.hpp"
#include "runtime/durable_folder.hpp"
#include "runtime/fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

struct export_options {
  std::string run, model, folder;
  bool best = false;
};

[[noreturn]] void refuse(const std::string& text) { throw fault_error{fault_code::bad_input, text}; }

const model_entry& find_model(const workload& w, const std::string& name) {
  std::vector<std::string> known;
  std::ranges::transform(w.models, std::back_inserter(known), [](const auto& m) { return m.description.name; });
  const auto found = std::ranges::find(known, name);
  if (found == known.end())
    refuse(fmt::format("{}: there is no model \"{}\"; {}", to_string(w.file), name, did_you_mean(name, known)));
  return w.models[static_cast<std::size_t>(found - known.begin())];
}

workload read_run(const fs::path& run) {
  const fs::path file = run / workload_file;
  if (!fs::is_regular_file(file))
    refuse(fmt::format("\"{}\" is no run folder: it holds no {}", run.string(), workload_file));
  return read_workload(file);
}

void check_target(const fs::path& folder) {
  const fs::path parent = fs::absolute(folder).parent_path();
  if (fs::exists(fs::symlink_status(folder)))
    refuse(fmt::format("\"{}\" exists and is not overwritten: move it away, or choose another folder", folder.string()));
  if (!fs::is_directory(parent)) refuse(fmt::format("there is no folder \"{}\" to export into", parent.string()));
}

/// "runs/x" and "runs/x/" are the same.
fs::path normal(const std::string& folder) {
  const fs::path path = fs::path{folder}.lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

chain build_chain(const workload& w, const model_entry& m) {
  const data_entry& data = w.data.at(m.data);
  return located(m.keys.where, "model",
                 [&] { return m.description.chain.build(*open_data(data.description, m.description.chain.wants())); });
}

const value_table& data_keys(const workload& w, const std::string& name) {
  const value* const keys = find_path(w.as_run, "data");
  return std::get<value_table>(std::get<value_table>(keys->content).find(name)->content);
}

/// As it lies in the checkpoint, if it is of the model's shape.
stored_tensor value_of(const checkpoint_tensors& tensors, const parameter_spec& p, const fs::path& checkpoint) {
  const stored_tensor t = tensors.find("parameter." + p.name);
  if (t.shape != p.shape || t.type != stored_type::f32)
    refuse(fmt::format("{}: parameter '{}' has another shape or type than the model's", checkpoint.string(), p.name));
  return t;
}

int export_model(const export_options& o) {
  const fs::path target = normal(o.folder);
  const workload w = read_run(o.run);
  const model_entry& m = find_model(w, o.model);
  check_target(target);
  const fs::path checkpoint = checkpoint_to_read(o.run, o.model, o.best);
  const checkpoint_tensors tensors{checkpoint, read_checkpoint(checkpoint).cuts.size()};
  durable_folder into{posix_file_system(), target};
  write_hub_files(into, build_chain(w, m),
                  [&](const parameter_spec& p) { return value_of(tensors, p, checkpoint); });
  copy_tokenizer_files(into, data_keys(w, m.data));
  into.commit();
  fmt::print("{}\n", target.string());
  return 0;
}

}  // namespace

command_action declare_export(CLI::App& app) {
  auto o = std::make_shared<export_options>();
  app.add_option("run", o->run, "run folder")->required();
  app.add_option("model", o->model, "name of one of its models")->required();
  app.add_option("folder", o->folder, "where config.json, model.safetensors and the tokenizer's files go; made anew")
      ->required();
  app.add_flag("--best", o->best, "the checkpoint of the best evaluation (validate.keep_best) instead of the newest");
  return [o] { return export_model(*o); };
}

}  // namespace hydra::apps
