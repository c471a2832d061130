#include "apps/workload/policy_keys.hpp"

#include "actors/plugin/named_item.hpp"
#include "actors/session/policy_registry.hpp"
#include "apps/workload/convert.hpp"
#include "apps/workload/run_keys.hpp"

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

/// A path of a plug-in.
void make_absolute(value& v) {
  auto& path = *v.as<std::string>();
  const fs::path folder = v.where.line > 0 ? fs::path{*v.where.source}.parent_path() : fs::path{};
  path = fs::absolute(folder / path).lexically_normal().string();
}

/// A name or a plug-in, perhaps with options.
void visit_choice(value* choice, const std::function<void(value&)>& visit) {
  auto* const table = content_of<value_table>(choice);
  value* const which = table ? table->find("name") : choice;
  if (const auto* const text = content_of<std::string>(which); text && names_plugin(*text)) visit(*which);
}

void check(const named_choice& c, const std::shared_ptr<plugin_set>& plugins) {
  policy_registry registry{{}, plugins};
  located(c.where, "run.policy", [&] {
    const policy_entry entry = registry.find(c.which).entry;
    complete({.seed = 0, .values = c.options}, entry.options, entry.name);
  });
}

}  // namespace

void for_each_plugin(value_table& root, const std::function<void(value&)>& visit) {
  if (auto* const search = content_of<value_table>(root.find("search"))) visit_choice(search->find("rule"), visit);
  auto* const run = content_of<value_table>(root.find("run"));
  if (!run) return;
  if (auto* const plugins = content_of<value_list>(run->find("plugins")))
    for (value& each : *plugins)
      if (const auto* const path = each.as<std::string>(); path && !path->empty()) visit(each);
  visit_choice(run->find("policy"), visit);
}

void resolve_plugins(value_table& root) { for_each_plugin(root, make_absolute); }

std::vector<plugin_file> read_plugins(const value_table& root) {
  const auto* const run = content_of<value_table>(root.find("run"));
  const auto* const plugins = run ? content_of<value_list>(run->find("plugins")) : nullptr;
  std::vector<plugin_file> all;
  for (const value& v : plugins ? *plugins : value_list{})
    if (const auto* const file = v.as<std::string>(); file && !file->empty()) all.push_back({*file, v.where});
  return all;
}

void leave_out_policy(value_table& root) {
  if (auto* const run = content_of<value_table>(root.find("run")))
    for (const char* key : {"policy", "trusted_policy", "plugins"}) run->erase(key);
}

named_choice read_choice(const value& v) {
  const auto* const table = v.as<value_table>();
  named_choice c{.which = to<std::string>(table ? *table->find("name") : v), .where = v.where};
  for (const table_entry& e : table ? table->entries : std::vector<table_entry>{})
    if (e.key != "name") c.options[e.key] = real_from(e.is);
  return c;
}

named_choice read_policy(const value_table& root, const std::shared_ptr<plugin_set>& plugins) {
  const value* const v = sub_table(root, "run").find("policy");
  named_choice c = v ? read_choice(*v) : named_choice{.which = run_rules().find("policy")->fallback};
  check(c, plugins);
  return c;
}

}  // namespace hydra::apps
