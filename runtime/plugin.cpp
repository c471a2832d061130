#include "runtime/plugin.hpp"

#include "runtime/fault.hpp"

#include <fmt/format.h>

#include <cxxabi.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <regex>

namespace hydra {

namespace {

namespace fs = std::filesystem;

constexpr const char* entry_point = "hydra_plugin_v1";

[[noreturn]] void refuse(const fs::path& file, const std::string& why) {
  throw fault_error(fault_code::bad_input, fmt::format("plug-in \"{}\": {}", file.string(), why));
}

/// The canonical path of a file that is there.
fs::path found(const fs::path& file) {
  std::error_code error;
  const auto path = fs::canonical(file, error);
  if (error) {
    refuse(file, "there is no such file");
  }
  if (!fs::is_regular_file(path, error)) {
    refuse(file, "it is no file");
  }
  return path;
}

/// The loader names C++ symbols as the linker sees them.
std::string readable(const std::string& text) {
  std::smatch symbol;
  if (!std::regex_search(text, symbol, std::regex{"undefined symbol: (\\S+)"})) {
    return "it cannot be loaded: " + text;
  }
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name{
      abi::__cxa_demangle(symbol[1].str().c_str(), nullptr, nullptr, &status), &std::free};
  return fmt::format("it needs {}, which neither the program nor what it is linked with has",
                     status == 0 ? name.get() : symbol[1].str());
}

/// RTLD_NOW: what is missing is said now, not in the middle of a run.
void* opened(const fs::path& file) {
  if (void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    return handle;
  }
  const char* why = dlerror();
  refuse(file, readable(why == nullptr ? "" : why));
}

const hydra_plugin* table_of(const fs::path& file) {
  void* symbol = dlsym(opened(file), entry_point);
  if (symbol == nullptr) {
    refuse(file, fmt::format("it has no function {}; a plug-in of Hydra defines one", entry_point));
  }
  try {
    return reinterpret_cast<decltype(&hydra_plugin_v1)>(symbol)();
  } catch (...) {
    refuse(file, "its list cannot be made: " + to_fault(std::current_exception()).text);
  }
}

void check_item(const fs::path& file, const plugin_item& item) {
  if (to_string(item.kind).empty()) {
    refuse(file, fmt::format("\"{}\" is of an unknown kind ({})", item.name, static_cast<std::uint32_t>(item.kind)));
  }
  if (item.name.empty() || item.make == nullptr) {
    refuse(file, fmt::format("a {} has no {}", to_string(item.kind), item.name.empty() ? "name" : "factory"));
  }
}

bool same_thing(const plugin_item& a, const plugin_item& b) { return a.kind == b.kind && a.name == b.name; }

void check_items(const fs::path& file, const std::vector<plugin_item>& items) {
  if (items.empty()) {
    refuse(file, "it offers nothing");
  }
  for (const auto& item : items) {
    check_item(file, item);
    if (std::ranges::count_if(items, [&](const plugin_item& other) { return same_thing(item, other); }) > 1) {
      refuse(file, fmt::format("it offers {} \"{}\" twice", to_string(item.kind), item.name));
    }
  }
}

}  // namespace

std::string to_string(plugin_kind kind) {
  switch (kind) {
    case plugin_kind::policy:
      return "policy";
    case plugin_kind::policy_by_actor:
      return "policy actor";
    case plugin_kind::controller:
      return "controller";
    case plugin_kind::device:
      return "device";
    case plugin_kind::layer:
      return "layer";
  }
  return {};
}

std::string plugin::describe() const {
  std::vector<std::string> parts;
  for (const auto& item : *items) {
    parts.push_back(fmt::format("{} \"{}\"", to_string(item.kind), item.name));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

plugin load_plugin(const fs::path& file, const std::string& abi) {
  const auto path = found(file);
  const auto* table = table_of(path);
  if (table == nullptr || table->abi == nullptr) {
    refuse(path, fmt::format("its function {} returns no table", entry_point));
  }
  if (table->abi != abi) {
    refuse(path, fmt::format("it was built for [{}], this program is [{}]; build it again with the headers of this "
                             "Hydra", table->abi, abi));
  }
  check_items(path, table->items);
  return {path, &table->items};
}

plugin plugin_set::load(const fs::path& file) {
  const auto path = found(file);
  if (const auto known = std::ranges::find(plugins_, path, &plugin::file); known != plugins_.end()) {
    return *known;
  }
  auto added = load_plugin(path, abi_);
  for (const auto& p : plugins_) {
    for (const auto& item : *added.items) {
      if (std::ranges::any_of(*p.items, [&](const plugin_item& other) { return same_thing(item, other); })) {
        refuse(path,
               fmt::format("it offers {} \"{}\", as \"{}\" does", to_string(item.kind), item.name, p.file.string()));
      }
    }
  }
  return plugins_.emplace_back(std::move(added));
}

void plugin_set::forget(const plugin& which) {
  std::erase_if(plugins_, [&](const plugin& p) { return p.file == which.file; });
}

}  // namespace hydra
