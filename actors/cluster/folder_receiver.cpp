#include "actors/cluster/folder_receiver.hpp"

#include "actors/cluster/chunk_puller.hpp"
#include "actors/protocol/own_thread.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/storage/checksum_list.hpp"
#include "runtime/storage/durable_folder.hpp"
#include "runtime/storage/leftovers.hpp"

#include <caf/actor_system.hpp>
#include <caf/blocking_actor.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace hydra {

namespace {

namespace fs = std::filesystem;

/// The files of a folder, by their places in the offer.
struct wanted_folder {
  std::string name;
  std::vector<std::uint32_t> files;
  std::uint32_t checksums = 0;  ///< not among `files`
};

std::vector<wanted_folder> folders_of(const offered_folders& what) {
  std::map<std::string, wanted_folder> all;
  std::map<std::string, bool> listed;
  for (std::uint32_t i = 0; i < what.files.size(); ++i) {
    const auto& file = what.files[i];
    auto& folder = all[file.folder];
    folder.name = file.folder;
    if (file.name == checksum_file) {
      folder.checksums = i;
      listed[file.folder] = true;
    } else {
      folder.files.push_back(i);
    }
  }
  std::vector<wanted_folder> wanted;
  for (auto& [name, folder] : all) {
    if (!can_be_listed(name) || !listed[name]) {
      throw fault_error(fault_code::damaged, fmt::format("\"{}\" is offered without {}", shown(name), checksum_file));
    }
    wanted.push_back(std::move(folder));
  }
  return wanted;
}

/// The checksums first.
std::vector<pulled_file> in_order(const offered_folders& what, const wanted_folder& folder) {
  std::vector<pulled_file> order;
  const auto add = [&](std::uint32_t file) { order.push_back({file, what.files[file].name, what.files[file].size}); };
  add(folder.checksums);
  std::ranges::for_each(folder.files, add);
  return order;
}

bool same(std::vector<checksum> a, std::vector<checksum> b) {
  std::ranges::sort(a, {}, &checksum::file);
  std::ranges::sort(b, {}, &checksum::file);
  return a == b;
}

void write_folder(caf::blocking_actor& self, const offered_folders& what, const wanted_folder& wanted,
                  const fs::path& place) {
  chunk_puller puller(self, what.from, what.offer, in_order(what, wanted));
  std::string sums;
  puller.pull_next([&](std::span<const std::byte> bytes) {
    sums.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  });
  durable_folder folder(posix_file_system(), place);
  for (const auto file : wanted.files) {
    folder.write(what.files[file].name, [&](byte_sink& sink) {
      puller.pull_next([&](std::span<const std::byte> bytes) { sink.add(bytes); });
    });
  }
  if (!same(folder.written(), parse_checksums(sums))) {
    throw fault_error(fault_code::damaged,
                      fmt::format("{} came with other checksums than those of its owner", wanted.name));
  }
  folder.commit();
}

void receive_all(caf::blocking_actor& self, const folder_transfer& t) {
  auto& files = posix_file_system();
  if (t.replaces) {
    files.remove_all(t.into);
  }
  make_folders(files, t.into);
  remove_leftovers(files, t.into);
  for (const auto& folder : folders_of(t.what)) {
    if (!fs::exists(t.into / folder.name)) {
      write_folder(self, t.what, folder, t.into / folder.name);
    }
  }
}

void end_transfer(const folder_transfer& t, const fault& why, const std::function<void(const fault&)>& done) {
  if (t.what.from) {
    caf::anon_send(t.what.from, drop_folders{t.what.offer});
  }
  done(why);
}

}  // namespace

void receive_folders(caf::actor_system& system, folder_transfer transfer, std::function<void(const fault&)> done) {
  const auto receive = [transfer, done](caf::blocking_actor* self) {
    fault why;
    try {
      if (transfer.what.from) {
        self->monitor(transfer.what.from);
      }
      receive_all(*self, transfer);
    } catch (...) {
      why = to_fault(std::current_exception());
    }
    end_transfer(transfer, why, done);
  };
  try {
    run_on_own_thread(system, receive);
  } catch (const fault_error& e) {
    end_transfer(transfer, e.what_happened(), done);
  }
}

}  // namespace hydra
