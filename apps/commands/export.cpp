#include "apps/commands/export.hpp"

#include "apps/commands/saved_run.hpp"
#include "apps/commands/saved_weights.hpp"
#include "apps/commands/tokenizer_files.hpp"
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
  const chain_description& d = m.description.chain;
  const data_description& data = w.data.at(m.data).description;
  require_tokenizer_of_training(checkpoint, data, d.wants());
  durable_folder into{posix_file_system(), target};
  copy_tokenizer_files(into, tokenizer_for(data, d.wants()).value_or(tokenizer_choice{}));
  copy_checkpoint_files(into, d.checkpoint);
  write_hub_files(into, build_chain(w, m, d),
                  [&](const parameter_spec& p) { return value_of(tensors, p, checkpoint); });
  into.commit();
  fmt::print("{}\n", target.string());
  return 0;
}

}  // namespace

command_action declare_export(command_line& line) {
  auto o = std::make_shared<export_options>();
  line.add_option("run", o->run, "run folder").required();
  line.add_option("model", o->model, "name of one of its models").required();
  line.add_option("folder", o->folder, "where config.json, model.safetensors and the tokenizer's files go; made anew")
      .required();
  line.add_flag("--best", o->best, "the checkpoint of the best evaluation (validate.keep_best) instead of the newest");
  return [o] { return export_model(*o); };
}

}  // namespace hydra::apps
