#include "actors/session/policy_registry.hpp"

#include "actors/plugin/plugin.hpp"
#include "actors/plugin/policy_actor.hpp"
#include "actors/policy/limited_policy.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/nearest.hpp"

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

bool is_policy(const plugin_item& item) {
  return item.kind == plugin_kind::policy || item.kind == plugin_kind::policy_by_actor;
}

/// Calls the item's factory.
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

/// A default of 1 is an integer.
option as_number(option o) {
  if (const auto* integer = std::get_if<std::int64_t>(&o.standard)) {
    o.standard = static_cast<double>(*integer);
  }
  return o;
}

/// Policies of plug-ins run with time limits.
known_policy known(const plugin& from, const plugin_item& item, const policy_limits& limits) {
  known_policy k{.entry = {item.name, item.help, {}, nullptr}, .plugin = from.file};
  if (const auto* options = static_cast<const std::vector<option>*>(item.about.get())) {
    std::ranges::transform(*options, std::back_inserter(k.entry.options), as_number);
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

/// `name` empty: the only one.
known_policy find_in(const plugin& from, const std::string& name, const std::vector<known_policy>& all) {
  std::vector<known_policy> offered;
  std::vector<std::string> names;
  for (const auto& p : all) {
    if (p.plugin == from.file) {
      offered.push_back(p);
      names.push_back(p.entry.name);
    }
  }
  if (offered.empty()) {
    refuse(from.file, fmt::format("it offers no policy, but {}", from.describe()));
  }
  if (name.empty() && offered.size() == 1) {
    return offered.front();
  }
  if (name.empty()) {
    refuse(from.file, fmt::format("it offers several policies ({}); name one: \"{}:{}\"", fmt::join(names, ", "),
                                  from.file.string(), names.front()));
  }
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) {
    refuse(from.file, fmt::format("it has no policy \"{}\"{}", name, known_instead(name, names)));
  }
  return offered[static_cast<std::size_t>(found - names.begin())];
}

}  // namespace

known_policy policy_registry::find(const std::string& which) {
  if (names_plugin(which)) {
    const auto [file, name] = split(which);
    const auto from = plugins_->load(file);
    return find_in(from, name, all());
  }
  const auto known_ones = all();
  std::vector<policy_entry> entries;
  std::ranges::transform(known_ones, std::back_inserter(entries), &known_policy::entry);
  const auto at = &find_policy(entries, which) - entries.data();
  return known_ones.at(static_cast<std::size_t>(at));
}

std::vector<known_policy> policy_registry::all() const {
  std::vector<known_policy> found;
  for (const auto& entry : built_in_policies()) {
    found.push_back({.entry = entry});
  }
  for (const auto& p : plugins_->all()) {
    for (const auto& item : *p.items) {
      if (is_policy(item)) {
        found.push_back(known(p, item, limits_));
      }
    }
  }
  return found;
}

bool names_plugin(const std::string& which) {
  return which.ends_with(".so") || which.find(".so:") != std::string::npos || which.find('/') != std::string::npos;
}

}  // namespace hydra
