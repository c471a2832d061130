#include "actors/policy_shelf.hpp"

#include "actors/plugin.hpp"
#include "actors/policy/limited_policy.hpp"
#include "actors/policy_actor.hpp"
#include "runtime/fault.hpp"
#include "runtime/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace hydra {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& file, const std::string& why) {
  throw fault_error(fault_code::bad_input, fmt::format("plug-in \"{}\": {}", file.string(), why));
}

bool is_used(const plugin_item& item) {
  return item.kind == plugin_kind::policy || item.kind == plugin_kind::policy_by_actor;
}

/// What the item's factory makes.
template <class Made>
std::unique_ptr<Made> make(const plugin_item& item, const policy_options& given) {
  try {
    if (auto* made = static_cast<Made*>(item.make(&given))) {
      return std::unique_ptr<Made>{made};
    }
  } catch (...) {
    throw fault_error(fault_code::bad_input, fmt::format("policy \"{}\" of a plug-in: its constructor throws: {}", item.name,
                                                         to_fault(std::current_exception()).text));
  }
  throw fault_error(fault_code::bad_input, fmt::format("policy \"{}\": its plug-in has made none", item.name));
}

std::shared_ptr<const policy_actor_source> make_source(const plugin_item& item, const policy_options& given) {
  const std::shared_ptr source = make<policy_actor_source>(item, given);
  source->name = item.name;
  return source;
}

/// What it makes in this program runs within limits.
known_policy known(const plugin& from, const plugin_item& item, const policy_limits& limits) {
  known_policy k{.entry = {item.name, item.help, {}, nullptr}, .plugin = from.file};
  if (const auto* options = static_cast<const std::vector<policy_option>*>(item.about.get())) {
    k.entry.options = *options;
  }
  if (item.kind == plugin_kind::policy_by_actor) {
    k.make_actor = [item](const policy_options& given) { return make_source(item, given); };
  } else {
    k.entry.make = [item, limit = limits.decision](const policy_options& given) {
      return std::make_unique<limited_policy>(make<policy>(item, given), item.name, limit);
    };
  }
  return k;
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

}  // namespace

policy_shelf::policy_shelf(const policy_limits& limits) : limits_{limits}, plugins_{plugin_abi} {
  for (const auto& entry : built_in_policies()) {
    policies_.push_back({.entry = entry});
  }
}

void policy_shelf::load(const fs::path& file) {
  const auto added = plugins_.load(file);
  if (std::ranges::find(policies_, added.file, &known_policy::plugin) != policies_.end()) {
    return;
  }
  try {
    add_all(added);
  } catch (...) {
    std::erase_if(policies_, [&](const known_policy& p) { return p.plugin == added.file; });
    plugins_.forget(added);
    throw;
  }
}

void policy_shelf::add_all(const plugin& from) {
  if (std::ranges::none_of(*from.items, is_used)) {
    refuse(from.file, fmt::format("it offers {}, which this Hydra does not take from plug-ins; it takes policies and "
                                  "policy actors", from.describe()));
  }
  for (const auto& item : *from.items) {
    add(from, item);
  }
}

void policy_shelf::add(const plugin& from, const plugin_item& item) {
  if (!is_used(item)) {
    return;
  }
  const auto same_name = [&](const known_policy& p) { return p.entry.name == item.name; };
  if (const auto twin = std::ranges::find_if(policies_, same_name); twin != policies_.end()) {
    refuse(from.file, fmt::format("it offers policy \"{}\", as {} does", item.name,
                                  twin->plugin.empty() ? "Hydra itself" : fmt::format("\"{}\"", twin->plugin.string())));
  }
  policies_.push_back(known(from, item, limits_));
}

const known_policy& policy_shelf::find(const std::string& which) {
  if (names_plugin(which)) {
    const auto [file, name] = split(which);
    load(file);
    return find_in(fs::canonical(file), name);
  }
  std::vector<policy_entry> entries;
  std::ranges::transform(policies_, std::back_inserter(entries), &known_policy::entry);
  const auto at = &find_policy(entries, which) - entries.data();
  return policies_.at(static_cast<std::size_t>(at));
}

const known_policy& policy_shelf::find_in(const fs::path& file, const std::string& name) const {
  std::vector<const known_policy*> offered;
  std::vector<std::string> names;
  for (const auto& p : policies_) {
    if (p.plugin == file) {
      offered.push_back(&p);
      names.push_back(p.entry.name);
    }
  }
  if (name.empty() && offered.size() == 1) {
    return *offered.front();
  }
  if (name.empty()) {
    refuse(file, fmt::format("it offers several policies ({}); name one: \"{}:{}\"", fmt::join(names, ", "),
                             file.string(), names.front()));
  }
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) {
    refuse(file, fmt::format("it has no policy \"{}\"; did you mean \"{}\"? (offered: {})", name,
                             nearest_name(name, names), fmt::join(names, ", ")));
  }
  return *offered[static_cast<std::size_t>(found - names.begin())];
}

bool names_plugin(const std::string& which) {
  return which.ends_with(".so") || which.find(".so:") != std::string::npos || which.find('/') != std::string::npos;
}

}  // namespace hydra
