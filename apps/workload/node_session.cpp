#include "apps/workload/node_session.hpp"

#include "actors/admission/beginning.hpp"
#include "actors/admission/identity.hpp"
#include "actors/cluster/asked_search.hpp"
#include "actors/plugin/known_plugins.hpp"
#include "actors/selection/search_rules.hpp"
#include "apps/workload/assemble.hpp"
#include "apps/workload/chosen_parallel.hpp"
#include "apps/workload/foreign_code.hpp"
#include "apps/workload/parse.hpp"
#include "apps/workload/paths.hpp"
#include "apps/workload/schema.hpp"
#include "apps/workload/to_toml.hpp"
#include "models/tokenizers/tokenizer.hpp"
#include "partition/checkpoint/saved_model.hpp"
#include "runtime/base/path_kind.hpp"
#include "runtime/base/text_file.hpp"
#include "runtime/device/cpu/queue_threads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

value devices_in(const fs::path& file) {
  const value_table root = parse_toml(read_text(file, text_kind::settings), file.string());
  const place top{std::make_shared<std::string>(file.string()), 1};
  for (const table_entry& e : root.entries)
    if (e.key != "device") refuse(e.where, e.key, "a file of devices has [[device]] tables only");
  const value* const devices = root.find("device");
  if (!content_of<value_list>(devices)) refuse(top, "device", "there is no [[device]]");
  return *devices;
}

fs::path folder_for_paths(const std::string& began_in) {
  std::error_code ignored;
  return fs::is_directory(began_in, ignored) ? fs::path{began_in} : fs::current_path();
}

/// Where a path of the workload leads to on this machine.
std::string path_here(const std::string& path, const fs::path& folder, const node_place& place) {
  const fs::path own = without_end(fs::absolute(folder / path));
  std::error_code ignored;
  return fs::exists(own, ignored) || !place.input ? own.string() : place.input(path).string();
}

std::string begins_in(const value_table& root) {
  const auto& model = std::get<value_table>(std::get<value_list>(root.find("model")->content).front().content);
  const std::string* const begins = content_of<std::string>(model.find("begins"));
  return begins ? *begins : "";
}

/// Of data, and of the state that it begins from, another machine may have others in the same places.
model_description open_added(const added_model& added, const workload& w, model_opener& opener,
                             const node_place& place, const std::function<void(value_table&)>& find_paths) {
  use_threads(1);  // what is read for it begins no threads of LibTorch's, of which there may be none
  value_table root = parse_toml(added.table, added.name);
  const std::string begins = begins_in(root);
  find_paths(root);
  const workload with = with_models(w, parse_models(to_toml(root), added.name));
  model_description d = opener.open(with.models.back(), {with.models.back()});
  if (!has_lines(data_lines_of(*std::get<std::shared_ptr<const data_source>>(d.data.what)), added.data))
    throw fault_error{fault_code::refused,
                      fmt::format("of {} this node has other data than the coordinator: other files, another "
                                  "tokenizer, or they are read otherwise",
                                  added.name)};
  if (!begins.empty() && checkpoint_digest(d.begins) != added.begins) d.begins = place.input(begins);
  return d;
}

}  // namespace

void check_machine(const node_machine& here) {
  if (!here.devices.empty()) devices_in(here.devices);
  if (here.host_memory) parse_bytes(*here.host_memory);
  const auto plugins = make_plugin_set();
  for (const std::string& file : here.plugins) plugins->load(file);
}

made_session node_session(const node_accepted& what, const node_machine& here, const node_place& place) {
  const std::string name = what.name + ".toml";
  value_table root = parse_toml(what.workload, name);
  const hydra::apps::place top{std::make_shared<std::string>(name), 1};
  use_own_plugins(root, here.plugins);
  if (!here.devices.empty()) root.set("device", devices_in(here.devices));
  if (here.host_memory) set_path(root, "host.memory", text_value(*here.host_memory, top));
  const auto find_paths = [place, folder = folder_for_paths(what.began_in)](value_table& in) {
    for_each_path(in, workload_rules(),
                  [&](std::string& path, value_kind) { path = path_here(path, folder, place); });
  };
  find_paths(root);
  const auto w = std::make_shared<const workload>(parse_workload(to_toml(root), name));
  session_options o = w->options;
  o.output = place.output;
  o.partners = place.partners;
  o.log = verbosity::quiet;
  o.tensorboard = false;
  o.begin_paused = true;
  o.keep_parameters = false;
  auto s = std::make_unique<session>(o);
  const auto opener = std::make_shared<model_opener>(*w);
  assemble(*s, *w, *opener);
  if (w->search && has_rule(w->search->kind)) s->use_search(asked_search(*w->search, place.evaluated));
  const auto open = [w, opener, place, find_paths](const added_model& m) {
    return open_added(m, *w, *opener, place, find_paths);
  };
  return {std::move(s), open};
}

namespace {

std::uint32_t lanes_of(const model_description& d) {
  const step_shape shape{.replicas = d.parallel.replicas,
                         .waves = d.parallel.waves,
                         .abreast = d.chain.side_by_side ? d.chain.pieces : 1,
                         .meets = d.replicas_until.empty() || d.parallel.replicas == 1 ? 0U : 1U};
  return shape.lanes();
}

}  // namespace

cluster_addition addition_of(const model_description& d, const value& table) {
  value_table root;
  root.set("model", {.where = {}, .written = {}, .content = value_list{table}});
  return {.model = {.name = d.name,
                    .table = to_toml(root),
                    .data = data_lines_of(*std::get<std::shared_ptr<const data_source>>(d.data.what)),
                    .begins = d.begins.empty() ? "" : checkpoint_digest(d.begins)},
          .steps = d.steps,
          .before = d.begins.empty() ? 0 : read_checkpoint(d.begins).standing.next.step,
          .replicas = d.parallel.replicas,
          .lanes = lanes_of(d),
          .nodes = d.nodes,
          .inputs = inputs_in(root)};
}

input_paths inputs_in(value_table root) {
  input_paths all;
  for_each_path(root, workload_rules(), [&](std::string& path, value_kind kind) {
    const fs::path file = without_end(fs::absolute(path));
    auto& belong = all[path] = {file};
    if (kind == value_kind::tokenizer && fs::is_regular_file(file)) {
      const auto beside = files_beside_tokenizer(file.parent_path());
      belong.insert(belong.end(), beside.begin(), beside.end());
    }
  });
  return all;
}

void check_for_cluster(const workload& w) {
  const auto at = [&](const char* key) { return place_of(w.as_run, key, w.file); };
  if (w.search && has_rule(w.search->kind) && (w.policy.which == "whole-model" || !w.options.ablation.sharp))
    refuse(at("search"), "search",
           "a device that trains one model to its end (policy whole-model, ablation sharp = false) waits for ever for "
           "trials that have no device: use another policy");
  if (has_choices(w))
    refuse(at("model"), "model.parallel", "\"auto\" is for one machine: the nodes of a cluster need numbers");
  if (w.policy.which == "whole-model" &&
      std::ranges::any_of(w.models, [](const model_entry& m) { return m.description.nodes > 1; }))
    refuse(
        at("run"), "run.policy",
        "\"whole-model\" keeps a device for a model until that has ended: nodes that train models together could wait "
        "for each other for ever");
  if (w.options.goal.is_set())
    refuse(at("run"), w.options.goal.deadline ? "run.deadline" : "run.objective",
           "is for one machine: a cluster uses the devices of all nodes that join it");
  if (w.options.checkpoint.keep == 0)
    refuse(at("run"), "run.checkpoint.keep", "0 saves nothing, and models move between nodes as their checkpoints");
}

}  // namespace hydra::apps
