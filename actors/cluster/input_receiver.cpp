#include "actors/cluster/input_receiver.hpp"

#include "actors/cluster/chunk_puller.hpp"
#include "actors/cluster/transfer_progress.hpp"
#include "runtime/base/counted.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/storage/byte_sink.hpp"
#include "runtime/storage/file_system.hpp"
#include "runtime/storage/leftovers.hpp"
#include "runtime/storage/sha256.hpp"

#include <caf/actor_cast.hpp>
#include <caf/scoped_actor.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace hydra {

namespace {

namespace fs = std::filesystem;

void check(const input_transfer& t) {
  if (t.cancelled && t.cancelled()) {
    throw fault_error(fault_code::cancelled, fmt::format("\"{}\" is not needed any more", shown(t.name)));
  }
}

void say(const input_transfer& t, const std::string& text) {
  if (t.say) {
    t.say(text);
  }
}

/// Waits until the source knows its checksums.
input_offered offer_of(caf::blocking_actor& self, const input_transfer& t) {
  self.send(t.from, want_input{t.name, caf::actor_cast<input_receiver>(&self)});
  input_offered got;
  bool said = false;
  do {
    check(t);
    if (const auto why = receive_one(self, got)) {
      throw fault_error(why);
    }
    if (got.is_being_read && !std::exchange(said, true)) {
      say(t, fmt::format("the coordinator reads \"{}\", which is not on this machine", shown(t.name)));
    }
  } while (got.is_being_read);
  if (got.why) {
    throw fault_error(got.why);
  }
  return got;
}

/// A plain path that stays in its folder.
bool is_inside(const fs::path& name) {
  return name.is_relative() && !name.empty() && name == name.lexically_normal() && *name.begin() != ".." &&
         name.has_filename() && name != ".";
}

byte_count size_of(const input_offered& what) {
  if (fs::path(what.name).has_parent_path() || !is_inside(what.name)) {
    throw fault_error(fault_code::damaged, fmt::format("\"{}\" is not a name of a file or folder", shown(what.name)));
  }
  byte_count sum{};
  for (const auto& f : what.files) {
    if (!is_inside(f.name)) {
      throw fault_error(fault_code::damaged, fmt::format("\"{}\" is not a name of a file", shown(f.name)));
    }
    sum += f.size;
  }
  return sum;
}

std::string digest_of(const input_offered& what) {
  sha256 hash;
  const auto add = [&hash](const std::string& text) { hash.add(std::as_bytes(std::span(text))); };
  for (const auto& f : what.files) {
    add(f.sha256 + "  " + f.name + "\n");
  }
  return hash.finish();
}

/// Waits until all that was written to the file system of the folder is on the disk: there may be many files.
void sync_all(const fs::path& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const int failed = descriptor < 0 ? -1 : syncfs(descriptor);
  const int error = errno;
  if (descriptor >= 0) {
    close(descriptor);
  }
  if (failed != 0) {
    throw file_error("write", folder, error);
  }
}

void write_files(chunk_puller& puller, const input_offered& what, const fs::path& folder, const input_transfer& t) {
  auto& files = posix_file_system();
  transfer_progress progress(size_of(what), steady_clock::now());
  for (const auto& f : what.files) {
    const auto place = folder / f.name;
    fs::create_directories(place.parent_path());
    const auto file = files.create(place);
    byte_sink sink(*file);
    puller.pull_next([&](std::span<const std::byte> bytes) {
      check(t);
      sink.add(bytes);
      if (const auto text = progress.came(byte_count{bytes.size()}, steady_clock::now()); !text.empty()) {
        say(t, fmt::format("\"{}\": {}", shown(t.name), text));
      }
    });
    if (sink.finish() != f.sha256) {
      throw fault_error(fault_code::damaged, fmt::format("{} has changed since the coordinator has read it", f.name));
    }
    file->flush();
    file->close();
  }
  sync_all(folder);
}

void pull(caf::blocking_actor& self, const input_transfer& t, const input_offered& what, const fs::path& place) {
  std::vector<pulled_file> wanted;
  for (const auto& f : what.files) {
    wanted.push_back({static_cast<std::uint32_t>(wanted.size()), f.name, f.size});
  }
  chunk_puller puller(self, t.from, what.offer, std::move(wanted));
  auto& files = posix_file_system();
  const auto temporary = temporary_path(place, getpid());
  remove_leftovers(files, t.into);
  make_folders(files, temporary);
  try {
    write_files(puller, what, temporary, t);
    files.rename(temporary, place);
    files.sync_folder(place.parent_path());
  } catch (...) {
    files.remove_all(temporary);
    throw;
  }
}

}  // namespace

fs::path receive_input(caf::actor_system& system, const input_transfer& t) try {
  const caf::scoped_actor self(system);
  if (!t.from) {
    throw fault_error(fault_code::io, "it is not on this machine, and the coordinator does not offer it");
  }
  self->monitor(t.from);
  const auto what = offer_of(*self, t);
  const auto size = size_of(what);
  const auto place = t.into / digest_of(what);
  if (!fs::exists(place)) {
    say(t, fmt::format("\"{}\" comes from the coordinator: {} in {}", shown(t.name), to_string(size),
                       counted(what.files.size(), "file")));
    pull(*self, t, what, place);
  }
  if (!fs::exists(place / what.name)) {
    throw fault_error(fault_code::bad_input, "it is an empty folder on the coordinator");
  }
  return place / what.name;
} catch (const fault_error& e) {
  throw fault_error(e.what_happened().code, fmt::format("\"{}\": {}", shown(t.name), e.what()));
}

}  // namespace hydra
