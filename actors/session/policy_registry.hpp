#pragma once
// Policies by name: the built-in ones and those of plug-ins.

#include "actors/plugin/known_plugins.hpp"
#include "actors/policy/catalog.hpp"
#include "actors/policy/policy_limits.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace hydra {

struct policy_actor_source;

/// A policy that use_policy can find by name.
struct known_policy {
  policy_entry entry;              ///< `make` is empty for a policy actor; those of plug-ins are guarded, and limited
  std::function<std::shared_ptr<const policy_actor_source>(const policy_options&)> make_actor{};  ///< empty for others
  std::filesystem::path plugin{};  ///< canonical; empty: built in
};

class policy_registry {
 public:
  explicit policy_registry(const policy_limits& limits = {}, std::shared_ptr<plugin_set> plugins = make_plugin_set())
      : limits_{limits}, plugins_{std::move(plugins)} {}

  /// Adds what a plug-in offers; does nothing if it is loaded already. Throws fault_error{bad_input}: plugin_set::load.
  void load(const std::filesystem::path& file) { plugins_->load(file); }

  /// "fifo", a policy of a plug-in that is loaded, "path/libx.so" that offers one policy, or "path/libx.so:name". Loads
  /// the plug-in if necessary. Throws fault_error{bad_input}.
  known_policy find(const std::string& which);

  /// Built-in ones first, then in the order of loading.
  std::vector<known_policy> all() const;
  const std::vector<plugin>& plugins() const noexcept { return plugins_->all(); }

 private:
  policy_limits limits_;
  std::shared_ptr<plugin_set> plugins_;
};

}  // namespace hydra
