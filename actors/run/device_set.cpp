#include "actors/run/device_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace hydra {

std::vector<std::string> names_of(const std::vector<device_entry>& entries) {
  std::vector<std::string> names;
  std::map<std::string, int> counts;
  for (const auto& entry : entries) {
    const auto number = counts[entry.kind]++;
    names.push_back(entry.name.empty() ? fmt::format("{}:{}", entry.kind, number) : entry.name);
  }
  return names;
}

device_set::device_set(const std::vector<device_entry>& entries, std::shared_ptr<spdlog::logger> log, duration limit,
                       device_use use)
    : log_(std::move(log)), limit_(limit) {
  const auto names = names_of(entries);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    devices_.push_back(entries[i].make(names[i], use));
  }
}

std::vector<device*> device_set::pointers() const {
  std::vector<device*> all;
  for (const auto& d : devices_) {
    all.push_back(d.get());
  }
  return all;
}

std::vector<device_info> device_set::infos() const {
  std::vector<device_info> all;
  for (const auto& d : devices_) {
    all.push_back(d->info());
  }
  return all;
}

std::vector<page_locker*> device_set::lockers() const {
  std::vector<page_locker*> all;
  for (const auto& d : devices_) {
    auto* const locker = d->locker();
    if (locker && std::ranges::find(all, locker) == all.end()) {
      all.push_back(locker);
    }
  }
  return all;
}

std::vector<device_snapshot> device_set::retire(const std::function<void(bool hanging)>& before_end) {
  std::vector<device_snapshot> snapshots;
  for (auto& d : devices_) {
    d->stop({});  // all at once
  }
  for (auto& d : devices_) {
    const bool ended = d->stop(limit_);
    snapshots.push_back({d->info(), d->memory()});
    if (!ended) {
      log_->warn("device {} still computes or copies {} after stop was requested; its threads and its memory are kept "
                 "until the program ends",
                 d->info().name, to_string(limit_));
      static_cast<void>(d.release());
    }
  }
  if (before_end) {
    before_end(std::ranges::any_of(devices_, [](const auto& d) { return !d; }));
  }
  devices_.clear();
  return snapshots;
}

}  // namespace hydra
