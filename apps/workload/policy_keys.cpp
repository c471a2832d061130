#include "apps/workload/policy_keys.hpp"

#include "actors/policy_shelf.hpp"
#include "apps/workload/convert.hpp"
#include "apps/workload/run_keys.hpp"

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

void make_absolute(value& v) {
  const fs::path folder = v.where.line > 0 ? fs::path{*v.where.source}.parent_path() : fs::path{};
  v.content = fs::absolute(folder / std::get<std::string>(v.content)).lexically_normal().string();
}

void check(const policy_choice& c, const std::vector<plugin_file>& plugins) {
  policy_shelf shelf;
  for (const plugin_file& p : plugins) located(p.where, "run.plugins", [&] { shelf.load(p.file); });
  located(c.where, "run.policy", [&] {
    const policy_entry& entry = shelf.find(c.which).entry;
    complete({.seed = 0, .values = c.options}, entry.options, entry.name);
  });
}

}  // namespace

void resolve_plugins(value_table& root) {
  value* const run = root.find("run");
  if (!run) return;
  auto& keys = std::get<value_table>(run->content);
  if (value* const plugins = keys.find("plugins"))
    for (value& each : std::get<value_list>(plugins->content)) make_absolute(each);
  value* const policy = keys.find("policy");
  auto* const table = policy ? policy->as<value_table>() : nullptr;
  value* const which = table ? table->find("name") : policy;
  if (which && names_plugin(std::get<std::string>(which->content))) make_absolute(*which);
}

std::vector<plugin_file> read_plugins(const value_table& root) {
  std::vector<plugin_file> all;
  for (const value& v : sub_tables(sub_table(root, "run"), "plugins")) all.push_back({to<fs::path>(v), v.where});
  return all;
}

policy_choice read_policy(const value_table& root, const std::vector<plugin_file>& plugins) {
  policy_choice c{.which = run_rules().find("policy")->fallback};
  if (const value* const v = sub_table(root, "run").find("policy")) {
    c.where = v->where;
    const auto* table = v->as<value_table>();
    c.which = to<std::string>(table ? *table->find("name") : *v);
    for (const table_entry& e : table ? table->entries : std::vector<table_entry>{})
      if (e.key != "name") c.options[e.key] = real_from(e.is);
  }
  check(c, plugins);
  return c;
}

}  // namespace hydra::apps
