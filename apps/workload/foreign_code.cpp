#include "apps/workload/foreign_code.hpp"

#include "actors/plugin/named_item.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

std::string quoted_names(const std::vector<plugin_file>& named) {
  std::vector<std::string> all;
  for (const plugin_file& p : named) all.push_back(fmt::format("\"{}\"", p.file.string()));
  return fmt::format("{}", fmt::join(all, ", "));
}

[[noreturn]] void refuse_foreign(const std::vector<plugin_file>& named) {
  refuse(named.front().where, "run",
         fmt::format(
             "the workload needs {}, and a node loads only plug-ins that its own command line names: start it again "
             "with --plugin FILE for this machine's copy of each, as in hydra node --plugin FILE --join RUN",
             quoted_names(named)));
}

}  // namespace

std::vector<plugin_file> named_plugins(const value_table& root) {
  value_table all = root;
  std::vector<plugin_file> named;
  for_each_plugin(all, [&](value& v) {
    const fs::path file = file_of_plugin(*v.as<std::string>());
    if (std::ranges::count(named, file, &plugin_file::file) == 0) named.push_back({file, v.where});
  });
  return named;
}

std::optional<std::string> of_own_plugin(const std::string& which, const std::vector<std::string>& own) {
  const std::string file = file_of_plugin(which);
  const auto same_name = [&](const std::string& mine) {
    return fs::path{mine}.filename() == fs::path{file}.filename();
  };
  auto found = std::ranges::find(own, file);
  if (found == own.end()) found = std::ranges::find_if(own, same_name);
  return found == own.end() ? std::nullopt : std::optional{*found + which.substr(file.size())};
}

void use_own_plugins(value_table& root, const std::vector<std::string>& own) {
  const std::vector<plugin_file> named = named_plugins(root);
  if (own.empty() && named.empty()) return;
  std::vector<plugin_file> missing = named;
  std::erase_if(missing, [&](const plugin_file& p) { return of_own_plugin(p.file.string(), own).has_value(); });
  if (!missing.empty()) refuse_foreign(missing);
  const place where{std::make_shared<std::string>("--plugin"), 0};
  std::vector<std::string> files;
  value_list list;
  for (const std::string& file : own) {
    files.push_back(fs::absolute(file).lexically_normal().string());
    list.push_back(text_value(files.back(), where));
  }
  set_path(root, "run.plugins", {where, "", std::move(list)});
  for_each_plugin(root, [&](value& v) {
    auto& which = *v.as<std::string>();
    which = of_own_plugin(which, files).value();
  });
}

std::vector<plugin_file> leave_out_code(value_table& root) {
  resolve_plugins(root);
  std::vector<plugin_file> named = named_plugins(root);
  root.erase("search");
  leave_out_policy(root);
  return named;
}

std::string not_loaded(const std::vector<plugin_file>& named) {
  return fmt::format("the folder names {}, but no code is loaded only because a run folder names it",
                     quoted_names(named));
}

}  // namespace hydra::apps
