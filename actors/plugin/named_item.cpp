#include "actors/plugin/named_item.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/base/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace hydra {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& file, const std::string& why) {
  throw fault_error(fault_code::bad_input, fmt::format("plug-in \"{}\": {}", file.string(), why));
}

struct plugin_name {
  std::string file;
  std::string name;  ///< empty: the only one
};

plugin_name split(const std::string& which) {
  const auto colon = which.rfind(".so:");
  return colon == std::string::npos ? plugin_name{which, ""}
                                    : plugin_name{which.substr(0, colon + 3), which.substr(colon + 4)};
}

std::vector<offered_item> items_of(const plugin& from, const sought_kind& sought) {
  std::vector<offered_item> found;
  for (const auto& item : *from.items) {
    if (std::ranges::count(sought.kinds, item.kind) > 0) {
      found.push_back({from, item});
    }
  }
  return found;
}

}  // namespace

std::vector<offered_item> offered_items(const plugin_set& plugins, const sought_kind& sought) {
  std::vector<offered_item> found;
  for (const auto& p : plugins.all()) {
    std::ranges::copy(items_of(p, sought), std::back_inserter(found));
  }
  return found;
}

std::string file_of_plugin(const std::string& which) { return split(which).file; }

bool names_plugin(const std::string& which) {
  return which.ends_with(".so") || which.find(".so:") != std::string::npos || which.find('/') != std::string::npos;
}

offered_item item_of_plugin(plugin_set& plugins, const std::string& which, const sought_kind& sought) {
  const auto [file, name] = split(which);
  const auto from = plugins.load(file);
  const auto offered = items_of(from, sought);
  std::vector<std::string> names;
  std::ranges::transform(offered, std::back_inserter(names), [](const offered_item& o) { return o.item.name; });
  if (offered.empty()) {
    refuse(from.file, fmt::format("it offers no {}, but {}", sought.one, from.describe()));
  }
  if (name.empty() && offered.size() == 1) {
    return offered.front();
  }
  if (name.empty()) {
    refuse(from.file, fmt::format("it offers several {} ({}); name one: \"{}:{}\"", sought.several,
                                  fmt::join(names, ", "), from.file.string(), names.front()));
  }
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) {
    refuse(from.file, fmt::format("it has no {} \"{}\"{}", sought.one, name, known_instead(name, names)));
  }
  return offered[static_cast<std::size_t>(found - names.begin())];
}

}  // namespace hydra
