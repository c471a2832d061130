#include "runtime/plugin/plugin.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/base/regular_file.hpp"
#include "runtime/plugin/library_origins.hpp"

#include <fmt/format.h>

#include <cxxabi.h>
#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>

namespace hydra {

namespace {

namespace fs = std::filesystem;

constexpr const char* entry_point = "hydra_plugin_v1";

[[noreturn]] void refuse(const fs::path& file, const std::string& why) {
  throw fault_error(fault_code::bad_input, fmt::format("plug-in \"{}\": {}", file.string(), why));
}

/// The canonical path of an existing file.
fs::path found(const fs::path& file) {
  std::error_code error;
  const auto path = fs::canonical(file, error);
  if (error) {
    refuse(file, "there is no such file");
  }
  if (!fs::is_regular_file(path, error)) {
    refuse(file, "it is not a file");
  }
  return path;
}

/// A library that is missing, with where to get it as far as known. The loader names the first alone.
std::string needs(const std::string& library) {
  const auto origin = library_origin(library);
  const auto from = origin.empty() ? "" : fmt::format(" ({}); it may need more of CUDA that is not there", origin);
  return fmt::format("it needs the library {}, which is not there{}", library, from);
}

/// The loader reports mangled C++ symbols.
std::string needs_symbol(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name{abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                         &std::free};
  return fmt::format("it needs {}, which neither the program nor what it is linked with has",
                     status == 0 ? std::string{name.get()} : symbol);
}

/// Why the loader has refused it, by what dlerror() says.
std::string readable(const fs::path& file, const std::string& text) {
  constexpr std::string_view of_symbol = "undefined symbol: ";
  if (const auto at = text.find(of_symbol); at != text.npos) {
    const auto begin = at + of_symbol.size();
    return needs_symbol(text.substr(begin, text.find_first_of(" \t\n", begin) - begin));
  }
  const auto library = text.substr(0, text.find(": cannot open shared object file"));
  return library == text || library == file ? "it cannot be loaded: " + text : needs(library);
}

/// The loader may accept a truncated file, and the program is killed later when it reads beyond the end. Linkers write
/// the section table last.
void check_whole(const fs::path& file) {
  const regular_file in{file, "plug-in"};
  ElfW(Ehdr) header{};
  in.read({reinterpret_cast<char*>(&header), sizeof header}, 0);
  const bool elf = std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0;
  const std::uint64_t table = std::uint64_t{header.e_shnum} * header.e_shentsize;
  if (elf && (in.size() < sizeof header || header.e_shoff > in.size() || in.size() - header.e_shoff < table)) {
    refuse(file, fmt::format("it is cut short: {} bytes are there; copy or build it again", in.size()));
  }
}

/// RTLD_NOW: missing symbols are reported now, not in the middle of a run.
void* opened(const fs::path& file) {
  check_whole(file);
  if (void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    return handle;
  }
  const char* error = dlerror();
  refuse(file, readable(file, error == nullptr ? "" : error));
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

plugin_kind family(plugin_kind kind) { return kind == plugin_kind::policy_by_actor ? plugin_kind::policy : kind; }

bool same_thing(const plugin_item& a, const plugin_item& b) {
  return family(a.kind) == family(b.kind) && a.name == b.name;
}

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
    case plugin_kind::search_rule:
      return "search rule";
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
  auto added = load_plugin(path, terms_.abi);
  check_used(added);
  for (const auto& item : *added.items) {
    check_name(added, item);
  }
  return plugins_.emplace_back(std::move(added));
}

void plugin_set::check_used(const plugin& added) const {
  const auto used = [this](const plugin_item& item) { return std::ranges::count(terms_.used, item.kind) > 0; };
  if (terms_.used.empty() || std::ranges::any_of(*added.items, used)) {
    return;
  }
  std::vector<std::string> kinds;
  std::ranges::transform(terms_.used, std::back_inserter(kinds), [](plugin_kind k) { return to_string(k); });
  refuse(added.file, fmt::format("it offers {}, which this Hydra does not take from plug-ins (it takes: {})",
                                 added.describe(), fmt::join(kinds, ", ")));
}

void plugin_set::check_name(const plugin& added, const plugin_item& item) const {
  const auto offers = [&](const plugin& p) {
    return std::ranges::any_of(*p.items, [&](const plugin_item& other) { return same_thing(item, other); });
  };
  const auto twin = std::ranges::find_if(plugins_, offers);
  const bool own = std::ranges::count(terms_.own, std::pair{family(item.kind), item.name}) > 0;
  if (own || twin != plugins_.end()) {
    refuse(added.file, fmt::format("it offers {} \"{}\", as {} does", to_string(item.kind), item.name,
                                   own ? "Hydra itself" : fmt::format("\"{}\"", twin->file.string())));
  }
}

}  // namespace hydra
