#include "actors/cluster/inputs.hpp"

#include "actors/protocol/own_thread.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/path_kind.hpp"
#include "runtime/base/regular_file.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/storage/sha256.hpp"

#include <caf/actor_cast.hpp>
#include <caf/blocking_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

namespace hydra {

namespace {

namespace fs = std::filesystem;

constexpr auto notice_interval = std::chrono::seconds(1);  ///< for those that wait for checksums
constexpr std::size_t most_files = 20'000;                 ///< their names are sent in one message
constexpr std::uint32_t largest_part = 1 << 20;

/// An input has been read.
struct input_was_read {
  std::string name{};
  std::vector<offered_input_file> files{};
  fault why{};
};

struct notify_waiting_nodes {};

struct more_inputs {
  input_paths what;
};

}  // namespace

}  // namespace hydra

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hydra::input_was_read)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hydra::notify_waiting_nodes)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hydra::more_inputs)

namespace hydra {

namespace {

using local_inputs = input_source::extend<caf::reacts_to<input_was_read>, caf::reacts_to<notify_waiting_nodes>,
                                          caf::reacts_to<more_inputs>>;

bool is_hidden(const fs::path& p) { return p.filename().string().starts_with('.'); }

/// With their paths relative to what contains the input.
void add_files_of(const fs::path& input, std::vector<offered_input_file>& all) {
  if (!fs::is_directory(input)) {
    all.push_back({.name = input.filename().string(), .size = byte_count{fs::file_size(input)}});
    return;
  }
  const auto follow = fs::directory_options::follow_directory_symlink;
  for (auto entry = fs::recursive_directory_iterator(input, follow); entry != fs::end(entry); ++entry) {
    if (is_hidden(entry->path()) || leads_back(*entry)) {
      entry.disable_recursion_pending();
    } else if (std::error_code ignored; entry->is_regular_file(ignored)) {
      all.push_back({.name = entry->path().lexically_relative(input.parent_path()).string(),
                     .size = byte_count{entry->file_size()}});
    }
    if (all.size() > most_files) {
      throw fault_error(fault_code::refused, fmt::format("{} has more than {} files: give each machine a copy of it",
                                                         input.string(), most_files));
    }
  }
}

std::vector<offered_input_file> files_of(const std::vector<fs::path>& input) {
  std::vector<offered_input_file> all;
  for (const auto& each : input) {
    add_files_of(each, all);
  }
  std::ranges::sort(all, {}, &offered_input_file::name);
  return all;
}

std::string sha256_of(const fs::path& file, const std::atomic<bool>& given_up) {
  sha256 hash;
  std::vector<char> piece(largest_part);
  const regular_file in(file);
  std::uint64_t at = 0;
  while (const auto got = given_up ? 0 : in.read(piece, at)) {
    hash.add(std::as_bytes(std::span(piece).first(got)));
    at += got;
  }
  return hash.finish();
}

struct input {
  std::vector<fs::path> paths{};
  std::optional<std::vector<offered_input_file>> files{};  ///< known once it was read
  std::vector<input_receiver> waiting{};                   ///< for that
  std::shared_ptr<std::atomic<bool>> given_up{};           ///< null: it is not being read

  fs::path place_of(const offered_input_file& f) const { return paths.front().parent_path() / f.name; }
};

/// A thread of its own: it reads files. Another one reads an input for its checksums.
class inputs final : public local_inputs::base {
 public:
  using super = local_inputs::base;

  inputs(caf::actor_config& config, const input_paths& what) : super(config) { add(what); }
  const char* name() const override { return "inputs"; }

  behavior_type make_behavior() override {
    return {[this](const want_chunk& m) { send(m.to, read(m)); }, [](const drop_folders&) {},
            [this](const want_input& m) { on_want(m); }, [this](const input_was_read& m) { on_read(m); },
            [this](const notify_waiting_nodes&) {
              notifying_ = false;
              notify();
            },
            [this](const more_inputs& m) { add(m.what); }};
  }

  void on_exit() override {
    for (const auto& i : all_) {
      if (i.given_up) {
        *i.given_up = true;
      }
    }
  }

 private:
  void add(const input_paths& what) {
    for (const auto& [name, paths] : what) {
      if (numbers_.emplace(name, all_.size()).second) {
        all_.push_back({.paths = paths});
      }
    }
  }

  void on_want(const want_input& m) {
    const auto found = numbers_.find(m.name);
    if (found == numbers_.end()) {
      send(m.to,
           input_offered{.why = {fault_code::bad_input, fmt::format("the workload names no \"{}\"", shown(m.name))}});
      return;
    }
    auto& wanted = all_[found->second];
    if (wanted.files) {
      return offer(found->second, m.to);
    }
    wanted.waiting.push_back(m.to);
    if (!wanted.given_up) {
      wanted.given_up = std::make_shared<std::atomic<bool>>(false);
      begin_to_read(m.name, wanted.paths, wanted.given_up);
    }
    notify();
  }

  void begin_to_read(const std::string& name, const std::vector<fs::path>& paths,
                     const std::shared_ptr<const std::atomic<bool>>& given_up) {
    const auto self = caf::actor_cast<local_inputs>(this);
    const auto fails = [self, name](const fault& why) {
      caf::anon_send(self,
                     input_was_read{.name = name, .why = {why.code, "the coordinator cannot read it: " + why.text}});
    };
    const auto read = [self, name, paths, given_up, fails](caf::blocking_actor*) {
      try {
        input_was_read result{.name = name};
        result.files = files_of(paths);
        for (auto& f : result.files) {
          f.sha256 = sha256_of(paths.front().parent_path() / f.name, *given_up);
        }
        caf::anon_send(self, std::move(result));
      } catch (...) {
        fails(to_fault(std::current_exception()));
      }
    };
    try {
      run_on_own_thread(system(), read);
    } catch (const fault_error& e) {
      fails(e.what_happened());
    }
  }

  void on_read(const input_was_read& m) {
    const auto number = numbers_.at(m.name);
    auto& read = all_[number];
    const auto waiting = std::exchange(read.waiting, {});
    read.given_up = nullptr;
    if (!m.why) {
      read.files = m.files;
    }
    for (const auto& to : waiting) {
      if (m.why) {
        send(to, input_offered{.why = m.why});
      } else {
        offer(number, to);
      }
    }
  }

  void offer(std::size_t number, const input_receiver& to) {
    send(to,
         input_offered{
             .offer = number, .name = all_[number].paths.front().filename().string(), .files = *all_[number].files});
  }

  /// One message to itself at a time, and only while somebody waits.
  void notify() {
    bool somebody = false;
    for (const auto& i : all_) {
      for (const auto& to : i.waiting) {
        send(to, input_offered{.is_being_read = true});
        somebody = true;
      }
    }
    if (somebody && !std::exchange(notifying_, true)) {
      delayed_send(this, notice_interval, notify_waiting_nodes{});
    }
  }

  chunk read(const want_chunk& wanted) try {
    chunk answer{.file = wanted.file, .offset = wanted.offset};
    const auto& of = all_.at(wanted.offer);
    const auto place = of.place_of(of.files.value().at(wanted.file));
    if (!open_ || open_->first != place) {
      open_.emplace(place, std::make_unique<const regular_file>(place));
    }
    answer.bytes.resize(std::min(wanted.bytes, largest_part));
    answer.bytes.resize(open_->second->read(answer.bytes, wanted.offset));
    return answer;
  } catch (...) {
    return {.file = wanted.file, .offset = wanted.offset, .why = to_fault(std::current_exception())};
  }

  std::map<std::string, std::size_t> numbers_;
  std::vector<input> all_;
  std::optional<std::pair<fs::path, std::unique_ptr<const regular_file>>> open_;  ///< the file of the last chunk
  bool notifying_ = false;
};

}  // namespace

input_source spawn_inputs(caf::actor_system& system, input_paths what) {
  return spawn_on_own_thread<inputs>(system, std::move(what));
}

void add_inputs(const input_source& to, input_paths what) {
  caf::anon_send(caf::actor_cast<caf::actor>(to), more_inputs{std::move(what)});
}

}  // namespace hydra
