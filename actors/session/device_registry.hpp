#pragma once
// Kinds of devices by name: those of plug-ins that are loaded, and Hydra's own, whose plug-ins are loaded on first use.

#include "actors/plugin/known_plugins.hpp"
#include "actors/run/device_set.hpp"
#include "runtime/device/device.hpp"
#include "runtime/device/device_request.hpp"
#include "runtime/plugin/own_plugins.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace hydra {

/// A kind of device that a plug-in offers.
struct known_device {
  std::string kind;
  std::string help;
  device_about about;
  std::filesystem::path plugin;    ///< canonical
  /// Throws fault_error with the name of the device that cannot be made.
  std::function<std::unique_ptr<device>(const device_request&)> make;
};

class device_registry {
 public:
  /// `own`: the folders of Hydra's own plug-ins.
  explicit device_registry(std::shared_ptr<plugin_set> plugins = make_plugin_set(),
                        std::vector<std::filesystem::path> own = own_plugin_folders());

  /// Adds what a plug-in offers; does nothing if it is loaded already. Throws fault_error{bad_input}: plugin_set::load.
  void load(const std::filesystem::path& file) { plugins_->load(file); }

  /// Loads Hydra's own plug-in for the kind if no loaded one offers it. Throws fault_error{bad_input}: there is no such
  /// kind (with the nearest name), or why it cannot be used.
  known_device find(const std::string& kind);

  /// The kinds of plug-ins that are loaded, in the order of loading.
  std::vector<known_device> all() const;

 private:
  std::shared_ptr<plugin_set> plugins_;
  std::vector<std::filesystem::path> own_;
};

/// Of a program: `factory` gets the name of the device. Throws fault_error{bad_input} if it is empty. What it throws
/// later gets the name of the device, which cannot be made; so does a null that it returns.
device_entry own_entry(std::string kind, std::function<std::unique_ptr<device>(const std::string& name)> factory);

/// Makes devices of the kind with these options, completed. Throws fault_error{bad_input} of complete(). What goes
/// wrong later has `where` they were described as a prefix, if that is not empty.
device_entry entry_of(const known_device& kind, const option_values& given, std::string where);

}  // namespace hydra
