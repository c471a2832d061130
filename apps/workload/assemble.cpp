#include "apps/workload/assemble.hpp"

#include "actors/admission/prepared_model.hpp"
#include "apps/workload/controller_keys.hpp"
#include "models/families/exported_folder.hpp"
#include "models/optimizer/parameter_rule.hpp"
#include "models/optimizer/parameter_shares.hpp"
#include "models/weights/checkpoint_sums.hpp"
#include "partition/plan/plan_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace hydra::apps {

namespace {

using source_ptr = std::shared_ptr<const data_source>;

/// Sources by the name of the data and the sample request: equal requests share one source.
class opened_data {
 public:
  explicit opened_data(std::map<std::string, data_entry> all) : all_{std::move(all)} {}

  data_description open(const model_entry& m) {
    const data_entry& entry = all_.at(m.data);
    const sample_request wants = m.description.chain.wants();
    source_ptr& source = sources_[{m.data, wants}];
    if (!source) source = located(entry.where, "data." + m.data, [&] { return open_data(entry.description, wants); });
    return {source, entry.description.shuffle};
  }

 private:
  std::map<std::string, data_entry> all_;
  std::map<std::pair<std::string, sample_request>, source_ptr> sources_;
};

place part(const model_entry& m, std::string_view key) {
  return place_of(std::get<value_table>(m.keys.content), key, m.keys.where);
}

/// Plans by file.
class opened_plans {
 public:
  const saved_plan& open(const std::filesystem::path& file) {
    const auto known = plans_.find(file);
    return known != plans_.end() ? known->second : plans_.emplace(file, load_plan(file)).first->second;
  }

 private:
  std::map<std::filesystem::path, saved_plan> plans_;
};

/// Folders of checkpoints whose settings are as they were exported; hundreds of models may begin with one.
class verified_folders {
 public:
  void require(const std::filesystem::path& folder) {
    if (!folder.empty() && !is_exported(folder) && folders_.insert(folder).second) verify_settings(folder);
  }

 private:
  std::set<std::filesystem::path> folders_;
};

bool same_table(const model_entry& a, const model_entry& b) {
  return a.keys.where.source == b.keys.where.source && a.keys.where.line == b.keys.where.line;
}

/// A grid may vary what a group keeps as it is, and then meet the group's own values.
bool varies_rates(const model_entry& m, const std::vector<model_entry>& models) {
  const update_options& own = m.description.optimizer;
  return std::ranges::any_of(models, [&](const model_entry& other) {
    const update_options& o = other.description.optimizer;
    return same_table(m, other) && std::tie(o.learning_rate, o.weight_decay, o.decay) !=
                                       std::tie(own.learning_rate, own.weight_decay, own.decay);
  });
}

/// Its groups have to find and change parameters.
void check_groups_of(const model_entry& m, const chain& built, const std::vector<model_entry>& models) {
  const std::vector<trained_parameter> parameters = built.trained_parameters();
  const update_options& o = m.description.optimizer;
  check_groups(o, parameters);
  const auto by_muon = [](const trained_parameter& p) {
    return kind_for(update_kind::muon, p.form()) == update_kind::muon;
  };
  if (o.kind == update_kind::muon && std::ranges::none_of(parameters, by_muon))
    hydra::refuse("muon steps matrices between the first and the last layer, and the model trains none; use adamw");
  const std::optional<std::size_t> idle = idle_group(o, parameters);
  if (!idle || varies_rates(m, models)) return;
  hydra::refuse(
      fmt::format("group {} of groups, \"{}\", changes nothing: without it these parameters have the same "
                  "learning_rate and weight_decay; give it others, or leave it out",
                  *idle + 1, fmt::join(o.groups[*idle].parameters.all(), "\", \"")));
}

void check_recipe(const model_entry& m, const chain& built, const data_source& source,
                  const std::vector<model_entry>& models) {
  const model_description& d = m.description;
  located(part(m, "optimizer"), fmt::format("model.{}.optimizer", d.name), [&] { check_groups_of(m, built, models); });
  located(part(m, "schedule"), fmt::format("model.{}.schedule", d.name), [&] {
    if (!d.evaluate_only) check_steps(d.optimizer.schedule, steps_on(d, source));
  });
}

/// Refuses a loss that needs classes where the targets are numbers.
void check_loss(const model_entry& m, const std::string& loss, const data_source& source) {
  if (source.sample_target().type != element::f32 || loss != cross_entropy()->name()) return;
  refuse(part(m, "loss"), "model.loss",
         fmt::format("{} needs classes, but the targets of {} are numbers; use loss = \"mse\"", loss,
                     source.describe()));
}

/// Refuses a search for the best accuracy among models whose evaluations have none.
void check_metric(const model_entry& m, const loss& objective, const data_source& source,
                  const std::optional<search_settings>& search) {
  if (!search || search->metric != search_metric::accuracy) return;
  if (objective.counts_correct() && source.sample_target().type != element::f32) return;
  refuse(part(m, "loss"), "search.metric",
         fmt::format("accuracy is given, but {} has none with the loss {} and the targets of {}; use metric = "
                     "\"validation\"",
                     m.description.name, objective.name(), source.describe()));
}

}  // namespace

struct model_opener::opened_files {
  opened_data data;
  precision numbers;
  opened_plans plans;
  verified_folders checkpoints;
};

namespace {

/// Cuts must be possible for so many layers.
void check_cuts(const model_entry& m, const model_description& d, std::size_t layers, opened_plans& plans) {
  if (const auto* cuts = std::get_if<cut_points>(&d.cuts))
    located(part(m, "cuts"), "model.cuts", [&] { validate_cuts(*cuts, layers, d.name); });
  if (const auto* saved = std::get_if<saved_cuts>(&d.cuts))
    located(part(m, "cuts"), "model.cuts", [&] { cuts_for(plans.open(saved->file), d.name, layers); });
}

void check_settings(const model_entry& m, const chain_description& d, verified_folders& checkpoints) {
  located(part(m, "chain"), "model.chain.from", [&] { checkpoints.require(d.checkpoint); });
  located(part(m, "adapter"), "model.adapter.from", [&] { checkpoints.require(d.adapter); });
}

/// Chain, precision and data must be compatible.
chain built_chain(const model_entry& m, const model_description& d, precision numbers) {
  const auto& source = *std::get<source_ptr>(d.data.what);
  const chain built = located(part(m, "chain"), "model.chain", [&] {
    chain c = d.chain.build(source);
    chain whole = c.compute_in(numbers);
    whole.unfreeze().store_base(base_format::as_computed).chunk_loss(0).validate();
    return c;
  });
  const char* const tuned = std::get<value_table>(m.keys.content).find("adapter") ? "adapter" : "freeze";
  located(part(m, tuned), fmt::format("model.{}", tuned),
          [&] { chain{built}.store_base(base_format::as_computed).chunk_loss(0).validate(); });
  located(part(m, "base"), "model.base", [&] { chain{built}.chunk_loss(0).validate(); });
  located(part(m, "loss_chunk"), "model.loss_chunk", [&] { built.validate(); });
  check_loss(m, built.objective().name(), source);
  return built;
}

void check_batch(const model_entry& m, const model_description& d) {
  const auto& source = *std::get<source_ptr>(d.data.what);
  if (d.evaluate_only || source.samples(split::train) >= d.batch_size) return;
  refuse(part(m, "batch_size"), "model.batch_size", too_few_samples(source, d.batch_size));
}

}  // namespace

model_opener::model_opener(const workload& w)
    : files_{std::make_unique<opened_files>(opened_data{w.data}, common_formats(w.devices).numbers)} {}
model_opener::~model_opener() = default;

model_description model_opener::open(const model_entry& m, const std::vector<model_entry>& written,
                                     const std::optional<search_settings>& search) {
  model_description d = m.description;
  check_settings(m, d.chain, files_->checkpoints);
  d.data = files_->data.open(m);
  const auto& source = *std::get<source_ptr>(d.data.what);
  check_batch(m, d);
  const chain built = built_chain(m, d, files_->numbers);
  check_metric(m, built.objective(), source, search);
  check_cuts(m, d, built.size(), files_->plans);
  check_recipe(m, built, source, written);
  located(part(m, "validate"), "model", [&] { evaluation_micro_batches(d, source); });
  return d;
}

std::map<std::string, source_ptr> assemble(session& into, const workload& from, model_opener& opener) {
  for (const plugin_file& p : from.plugins) located(p.where, "run.plugins", [&] { into.load_plugin(p.file); });
  for (const device_entry& d : from.devices)
    located(d.keys.where, "device", [&] { d.kind.add(into, d.count, d.keys); });
  located(from.policy.where, "run.policy", [&] { into.use_policy(from.policy.which, from.policy.options); });
  std::map<std::string, source_ptr> sources;
  for (const model_entry& m : from.models) {
    model_description d = opener.open(m, from.models, from.search);
    sources[d.name] = std::get<source_ptr>(d.data.what);
    located(m.keys.where, "model", [&] { into.add_model(std::move(d)); });
  }
  for (const value& c : from.controllers) add_controller(into, c, from.models);
  return sources;
}

void assemble(session& into, const workload& from) {
  model_opener opener{from};
  assemble(into, from, opener);
}

}  // namespace hydra::apps
