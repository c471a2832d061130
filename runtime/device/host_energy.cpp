#include "runtime/device/host_energy.hpp"

#include <fstream>
#include <string>
#include <system_error>

namespace hydra {

namespace {

namespace fs = std::filesystem;

template <class T>
std::optional<T> content_of(const fs::path& file) {
  std::ifstream in{file};
  T value{};
  return in >> value ? std::optional(value) : std::nullopt;
}

/// A package has its cores in it, but not its memory ("dram"). "psys" is the whole machine, where there is such a zone,
/// and has packages in it. Other folders ("intel-rapl-mmio:0") have the same counters again.
bool counts(const fs::path& folder) {
  const auto name = content_of<std::string>(folder / "name").value_or("");
  return folder.filename().string().starts_with("intel-rapl:") && (name.starts_with("package") || name == "dram");
}

}  // namespace

host_energy::host_energy(const fs::path& powercap) {
  std::error_code none;
  for (fs::directory_iterator each{powercap, none}, end; !none && each != end; each.increment(none)) {
    if (!counts(each->path())) {
      continue;
    }
    const auto found = zone_in(each->path());
    readable_ = readable_ && found;
    zones_.push_back(found.value_or(zone{}));
  }
}

std::optional<host_energy::zone> host_energy::zone_in(const fs::path& folder) {
  const auto now = content_of<std::uint64_t>(folder / "energy_uj");
  const auto range = content_of<std::uint64_t>(folder / "max_energy_range_uj");
  return now && range ? std::optional(zone{folder / "energy_uj", *range, *now}) : std::nullopt;
}

std::optional<energy_reading> host_energy::read() {
  for (auto& z : zones_) {
    const auto now = readable_ ? content_of<std::uint64_t>(z.counter) : std::nullopt;
    if (!now) {
      readable_ = false;
      break;
    }
    const auto used = *now >= z.last ? *now - z.last : *now + (z.range - z.last);
    joules_ += static_cast<double>(used) * 1e-6;
    z.last = *now;
  }
  return readable_ && !zones_.empty() ? std::optional(energy_reading{joules_, "rapl"}) : std::nullopt;
}

}  // namespace hydra
