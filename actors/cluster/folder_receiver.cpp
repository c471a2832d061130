#include "actors/cluster/folder_receiver.hpp"

#include "runtime/storage/checksum_list.hpp"
#include "runtime/storage/durable_folder.hpp"
#include "runtime/storage/leftovers.hpp"

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/after.hpp>
#include <caf/blocking_actor.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace hydra {

namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr caf::timespan silence_limit = 30s;

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
      throw fault_error(fault_code::damaged, fmt::format("\"{}\" is offered without {}", name, checksum_file));
    }
    wanted.push_back(std::move(folder));
  }
  return wanted;
}

/// Some files of an offer, one after the other. More is asked for before the last has come.
class chunk_puller {
 public:
  chunk_puller(caf::blocking_actor& self, const offered_folders& what, std::vector<std::uint32_t> files)
      : self_(self), what_(what), files_(files.begin(), files.end()) {}

  /// The next file, whole.
  void pull(std::uint32_t file, const std::function<void(std::span<const std::byte>)>& take) {
    for (std::uint64_t at = 0; at < what_.files[file].size.value();) {
      ask();
      const auto got = next();
      if (got.why) {
        throw fault_error(got.why);
      }
      if (got.file != file || got.offset != at || got.bytes.empty()) {
        throw fault_error(fault_code::damaged,
                          fmt::format("{} came otherwise than it was offered", what_.files[file].name));
      }
      --open_;
      at += got.bytes.size();
      take(std::as_bytes(std::span(got.bytes)));
    }
  }

 private:
  void ask() {
    while (open_ < chunk_credit && !files_.empty()) {
      const auto left = what_.files.at(files_.front()).size.value() - asked_;
      if (left == 0) {
        files_.pop_front();
        asked_ = 0;
        continue;
      }
      const auto bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(chunk_bytes, left));
      self_.send(what_.from,
                 want_chunk{what_.offer, files_.front(), asked_, bytes, caf::actor_cast<chunk_receiver>(&self_)});
      asked_ += bytes;
      ++open_;
    }
  }

  chunk next() {
    chunk got;
    self_.receive([&](chunk& c) { got = std::move(c); },
                  [&](const caf::down_msg&) {
                    got.why = {fault_code::io, "the connection was lost"};
                  },
                  caf::after(silence_limit) >>
                      [&] {
                        got.why = {fault_code::io, "nothing came for 30 s"};
                      });
    return got;
  }

  caf::blocking_actor& self_;
  const offered_folders& what_;
  std::deque<std::uint32_t> files_;  ///< of the first one so many bytes have been asked for
  std::uint64_t asked_ = 0;
  std::size_t open_ = 0;  ///< chunks that were asked for and have not come
};

std::vector<std::uint32_t> in_order(const wanted_folder& folder) {
  std::vector<std::uint32_t> order{folder.checksums};
  order.insert(order.end(), folder.files.begin(), folder.files.end());
  return order;
}

bool same(std::vector<checksum> a, std::vector<checksum> b) {
  std::ranges::sort(a, {}, &checksum::file);
  std::ranges::sort(b, {}, &checksum::file);
  return a == b;
}

void write_folder(caf::blocking_actor& self, const offered_folders& what, const wanted_folder& wanted,
                  const fs::path& place) {
  chunk_puller puller(self, what, in_order(wanted));
  std::string sums;
  puller.pull(wanted.checksums, [&](std::span<const std::byte> bytes) {
    sums.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  });
  durable_folder folder(posix_file_system(), place);
  for (const auto file : wanted.files) {
    folder.write(what.files[file].name, [&](byte_sink& sink) {
      puller.pull(file, [&](std::span<const std::byte> bytes) { sink.add(bytes); });
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

}  // namespace

void receive_folders(caf::actor_system& system, folder_transfer transfer, std::function<void(const fault&)> done) {
  system.spawn<caf::detached>([transfer = std::move(transfer), done = std::move(done)](caf::blocking_actor* self) {
    fault why;
    try {
      if (transfer.what.from) {
        self->monitor(transfer.what.from);
      }
      receive_all(*self, transfer);
    } catch (...) {
      why = to_fault(std::current_exception());
    }
    if (transfer.what.from) {
      self->send(transfer.what.from, drop_folders{transfer.what.offer});
    }
    done(why);
  });
}

}  // namespace hydra
