#pragma once
// Shared objects that add policies, devices and more to the program.

#include "runtime/plugin/plugin_table.hpp"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace hydra {

/// "policy", "policy actor", ...; empty for an unknown kind.
std::string to_string(plugin_kind kind);

/// A loaded plug-in; it stays loaded until the program ends.
struct plugin {
  std::filesystem::path file;                ///< canonical
  const std::vector<plugin_item>* items = nullptr;

  /// `policy "mine", device "fast"`.
  std::string describe() const;
};

/// Loads a shared object and checks its table. Throws fault_error{bad_input} that names the file: it is missing, is not
/// a shared object, needs libraries that are missing (all are named), has unresolved symbols or no entry point, was
/// built for another program (`abi` differs), or its table is invalid.
plugin load_plugin(const std::filesystem::path& file, const std::string& abi);

/// What a program accepts from plug-ins.
struct plugin_terms {
  std::string abi;                           ///< what they must have been built with
  /// a plug-in that offers none of these is refused; empty: no plug-in is refused for that
  std::vector<plugin_kind> used{};
  std::vector<std::pair<plugin_kind, std::string>> own{};  ///< what the program has itself, by kind and name
};

/// Loaded plug-ins that conflict neither with each other nor with the program. A policy and a policy actor count as the
/// same kind.
class plugin_set {
 public:
  explicit plugin_set(plugin_terms terms) : terms_(std::move(terms)) {}

  /// Adds each file once. Throws as load_plugin, if the plug-in offers nothing that is used, and if the program or
  /// another plug-in has an item of the same kind and name.
  plugin load(const std::filesystem::path& file);
  const std::vector<plugin>& all() const noexcept { return plugins_; }

 private:
  void check_used(const plugin& added) const;
  void check_name(const plugin& added, const plugin_item& item) const;

  plugin_terms terms_;
  std::vector<plugin> plugins_;
};

}  // namespace hydra
