#include "actors/session/device_registry.hpp"

#include "actors/plugin/named_item.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <optional>
#include <utility>

namespace hydra {

namespace {

[[noreturn]] void refuse(const std::string& kind, const std::string& why) {
  throw fault_error(fault_code::bad_input, fmt::format("device of kind \"{}\": {}", kind, why));
}

/// A fault_error of the factory keeps its code.
[[noreturn]] void refuse_made(const std::string& name, const fault& why) {
  const auto code = why.code == fault_code::internal ? fault_code::bad_input : why.code;
  throw fault_error(code, fmt::format("device {} cannot be made: {}", name, why.text));
}

std::unique_ptr<device> make(const plugin_item& item, const device_request& request) {
  std::unique_ptr<device> made;
  try {
    made.reset(static_cast<device*>(item.make(&request)));
  } catch (...) {
    refuse_made(request.name, to_fault(std::current_exception()));
  }
  if (!made) {
    refuse_made(request.name, {fault_code::bad_input, "its plug-in has made none"});
  }
  return made;
}

known_device known(const plugin& from, const plugin_item& item) {
  const auto* about = static_cast<const device_about*>(item.about.get());
  return {item.name, item.help, about == nullptr ? device_about{} : *about, from.file,
          [item](const device_request& request) { return make(item, request); }};
}

std::optional<known_device> find_kind(const std::vector<known_device>& all, const std::string& kind) {
  const auto found = std::ranges::find(all, kind, &known_device::kind);
  return found == all.end() ? std::nullopt : std::optional{*found};
}

[[noreturn]] void refuse_unknown(const std::string& kind, const std::vector<known_device>& offered) {
  if (kind == "cpu") {
    refuse(kind, "it does not come from a plug-in; describe it by a hydra::cpu_device");
  }
  auto names = own_plugin_names();
  names.insert(names.begin(), "cpu");
  std::ranges::transform(offered, std::back_inserter(names), &known_device::kind);
  refuse(kind, "there is no such kind" + known_instead(kind, names));
}

}  // namespace

device_registry::device_registry(std::shared_ptr<plugin_set> plugins, std::vector<std::filesystem::path> own)
    : plugins_(std::move(plugins)), own_(std::move(own)) {}

known_device device_registry::find(const std::string& kind) {
  if (auto offered = find_kind(all(), kind)) {
    return *std::move(offered);
  }
  if (std::ranges::count(own_plugin_names(), kind) == 0) {
    refuse_unknown(kind, all());
  }
  load(find_own_plugin(kind, own_));
  if (auto own = find_kind(all(), kind)) {
    return *std::move(own);
  }
  refuse(kind, "Hydra's own plug-in does not offer it; install Hydra again");
}

std::vector<known_device> device_registry::all() const {
  std::vector<known_device> found;
  for (const auto& offered : offered_items(*plugins_, {{plugin_kind::device}, "device", "devices"})) {
    found.push_back(known(offered.from, offered.item));
  }
  return found;
}

device_entry own_entry(std::string kind, std::function<std::unique_ptr<device>(const std::string&)> factory) {
  if (!factory) {
    refuse(kind, "its factory is empty: give a function that makes a device");
  }
  return {std::move(kind), [factory = std::move(factory)](const std::string& name, device_use) {
            std::unique_ptr<device> made;
            try {
              made = factory(name);
            } catch (...) {
              refuse_made(name, to_fault(std::current_exception()));
            }
            if (!made) {
              refuse_made(name, {fault_code::bad_input, "its factory has returned none"});
            }
            return made;
          }};
}

device_entry entry_of(const known_device& kind, const option_values& given, std::string where) {
  auto options = complete(fmt::format("device of kind \"{}\"", kind.kind), given, kind.about.options);
  return {kind.kind, [make = kind.make, options = std::move(options), where = std::move(where)](const std::string& name,
                                                                                               device_use use) {
            try {
              return make({name, options, use});
            } catch (const fault_error& e) {
              const auto& f = e.what_happened();
              throw fault_error(f.code, where.empty() ? f.text : where + ": " + f.text);
            }
          }};
}

}  // namespace hydra
