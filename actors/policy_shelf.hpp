#pragma once
// Policies by name: the built-in ones and those of plug-ins.

#include "actors/policy/catalog.hpp"
#include "actors/policy/policy_limits.hpp"
#include "runtime/plugin.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace hydra {

struct policy_actor_source;

/// A policy that use_policy knows.
struct known_policy {
  policy_entry entry;              ///< `make` is empty for a policy actor; what a plug-in makes is limited_policy
  std::function<std::shared_ptr<const policy_actor_source>(const policy_options&)> make_actor{};  ///< empty for others
  std::filesystem::path plugin{};  ///< canonical; empty: built in
};

class policy_shelf {
 public:
  explicit policy_shelf(const policy_limits& limits = {});

  /// Adds what a plug-in offers; nothing if it is loaded already. Throws fault_error{bad_input}: load_plugin, a name
  /// that another policy has, or nothing that is used.
  void load(const std::filesystem::path& file);

  /// "fifo", a policy of a plug-in that is loaded, "path/libx.so" that offers one policy, or "path/libx.so:name". A
  /// plug-in that is not loaded is. Throws fault_error{bad_input}.
  const known_policy& find(const std::string& which);

  /// Built-in ones first, then in the order of loading.
  const std::vector<known_policy>& all() const noexcept { return policies_; }
  const std::vector<plugin>& plugins() const noexcept { return plugins_.all(); }

 private:
  void add_all(const plugin& from);
  void add(const plugin& from, const plugin_item& item);
  const known_policy& find_in(const std::filesystem::path& file, const std::string& name) const;

  policy_limits limits_;
  plugin_set plugins_;
  std::vector<known_policy> policies_;
};

/// True for "path/libx.so" and "path/libx.so:name", false for a name.
bool names_plugin(const std::string& which);

}  // namespace hydra
