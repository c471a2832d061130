#pragma once
// Shared objects that bring policies, devices and more into the program.

#include "runtime/plugin_table.hpp"

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
/// shared object, has unresolved symbols or no entry point, was built for another program (`abi` differs), or its list is
/// broken.
plugin load_plugin(const std::filesystem::path& file, const std::string& abi);

/// Loaded plug-ins that do not contradict each other.
class plugin_set {
 public:
  /// `abi`: what plug-ins must have been built with.
  explicit plugin_set(std::string abi) : abi_(std::move(abi)) {}

  /// Once for each file. Throws as load_plugin, and if another plug-in offers the same kind of thing under one name.
  plugin load(const std::filesystem::path& file);
  /// One that cannot be used after all: it may be loaded again.
  void forget(const plugin& which);
  const std::vector<plugin>& all() const noexcept { return plugins_; }

 private:
  std::string abi_;
  std::vector<plugin> plugins_;
};

}  // namespace hydra
