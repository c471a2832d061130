#pragma once
// Shared objects that bring policies, devices and more into the program.

#include "runtime/plugin/plugin_table.hpp"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace hydra {

/// "policy", "policy actor", ...; empty for a kind that is none.
std::string to_string(plugin_kind kind);

/// A plug-in that is loaded, and stays so until the program ends.
struct plugin {
  std::filesystem::path file;                ///< canonical
  const std::vector<plugin_item>* items = nullptr;

  /// `policy "mine", device "fast"`.
  std::string describe() const;
};

/// Loads a shared object and checks what it offers. Throws fault_error{bad_input} that names the file: it is missing, no
/// shared object, needs libraries that are missing (all are named), has unresolved symbols or no entry point, was built for
/// another program (`abi` differs), or its list is broken.
plugin load_plugin(const std::filesystem::path& file, const std::string& abi);

/// What a program takes from plug-ins.
struct plugin_terms {
  std::string abi;                           ///< what they must have been built with
  std::vector<plugin_kind> used{};           ///< one that offers nothing of these is refused; empty: none is
  std::vector<std::pair<plugin_kind, std::string>> own{};  ///< what the program has itself, by kind and name
};

/// Loaded plug-ins that contradict neither each other nor the program. A policy and a policy actor are the same kind of thing.
class plugin_set {
 public:
  explicit plugin_set(plugin_terms terms) : terms_(std::move(terms)) {}

  /// Once for each file. Throws as load_plugin, if it offers nothing that is used, and if the program or another plug-in
  /// has the same kind of thing under one name.
  plugin load(const std::filesystem::path& file);
  const std::vector<plugin>& all() const noexcept { return plugins_; }

 private:
  void check_used(const plugin& added) const;
  void check_name(const plugin& added, const plugin_item& item) const;

  plugin_terms terms_;
  std::vector<plugin> plugins_;
};

}  // namespace hydra
