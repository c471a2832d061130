#include "apps/commands/plan_inputs.hpp"

#include "actors/report/text_table.hpp"
#include "apps/commands/part_name.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <set>
#include <utility>

namespace hydra::apps {

namespace {

using nlohmann::ordered_json;

using enum alignment;

void add_part(const std::string& data, const data_source& source, split part, std::vector<filled_samples>& all) {
  const std::size_t samples = source.samples(part);
  const auto census = source.census(part);
  if (!census || samples == 0) return;
  filled_samples f{data, part, *census, samples, static_cast<std::size_t>(source.sample_target().elements())};
  for (std::size_t i = 0; i < samples; ++i) f.tokens += source.tokens_of(part, i);
  all.push_back(std::move(f));
}

double filled_share(const filled_samples& f) {
  return static_cast<double>(f.tokens) / (static_cast<double>(f.samples) * static_cast<double>(f.places));
}

std::string group_text(const model_shares& m, const parameter_share& s) {
  return s.group ? m.groups.at(*s.group) : "none";
}

}  // namespace

std::vector<filled_samples> fill_of(const workload& w, const data_by_model& sources) {
  std::vector<filled_samples> all;
  std::set<const data_source*> seen;
  for (const model_entry& m : w.models) {
    const data_source& source = *sources.at(m.description.name);
    if (!seen.insert(&source).second) continue;
    for (const split part : {split::train, split::validation}) add_part(m.data, source, part, all);
  }
  return all;
}

std::vector<model_shares> shares_of(const workload& w, const data_by_model& sources) {
  std::vector<model_shares> all;
  for (const model_entry& m : w.models) {
    const model_description& d = m.description;
    const bool alike = d.optimizer.groups.empty() && d.optimizer.decay == decay_scope::all;
    if (alike && d.optimizer.kind != update_kind::muon) continue;
    model_shares one{.model = d.name, .groups = {}, .shares = {}};
    for (const parameter_group& g : d.optimizer.groups)
      one.groups.push_back(fmt::format("{}", fmt::join(g.parameters.all(), " ")));
    one.shares = parameter_shares(d.optimizer, d.chain.build(*sources.at(d.name)).trained_parameters());
    all.push_back(std::move(one));
  }
  return all;
}

std::string to_table(const std::vector<filled_samples>& all) {
  if (all.empty()) return "";
  text_table t{{{"data"},
                {"part"},
                {"records", right},
                {"shortened", right},
                {"samples", right},
                {"tokens each", right},
                {"filled", right}}};
  for (const filled_samples& f : all)
    t.add({f.data, part_name(f.part), std::to_string(f.of.records), std::to_string(f.of.shortened),
           std::to_string(f.samples), std::to_string(f.places), fmt::format("{:.1f} %", filled_share(f) * 100)});
  return t.to_string() + "\n";
}

std::string to_table(const std::vector<model_shares>& all) {
  if (all.empty()) return "";
  text_table t{{{"model"},
                {"group"},
                {"rule"},
                {"parameters", right},
                {"values", right},
                {"learning rate", right},
                {"weight decay", right}}};
  for (const model_shares& m : all)
    for (const parameter_share& s : m.shares)
      t.add({m.model, group_text(m, s), to_string(s.rule), std::to_string(s.names.size()), std::to_string(s.values),
             fmt::format("{:g}", s.learning_rate), fmt::format("{:g}", s.weight_decay)});
  return t.to_string() + "\n";
}

ordered_json json_of(const std::vector<filled_samples>& all) {
  auto list = ordered_json::array();
  for (const filled_samples& f : all)
    list.push_back({{"data", f.data},
                    {"part", part_name(f.part)},
                    {"records", f.of.records},
                    {"shortened", f.of.shortened},
                    {"samples", f.samples},
                    {"places", f.places},
                    {"tokens", f.tokens}});
  return list;
}

ordered_json json_of(const std::vector<model_shares>& all) {
  auto list = ordered_json::array();
  for (const model_shares& m : all)
    for (const parameter_share& s : m.shares)
      list.push_back({{"model", m.model},
                      {"group", group_text(m, s)},
                      {"rule", to_string(s.rule)},
                      {"learning_rate", s.learning_rate},
                      {"weight_decay", s.weight_decay},
                      {"values", s.values},
                      {"parameters", s.names}});
  return list;
}

}  // namespace hydra::apps
