#include "runtime/storage/durable_folder.hpp"

#include "runtime/storage/leftovers.hpp"

#include <unistd.h>

#include <fmt/format.h>

#include <span>
#include <utility>

namespace hydra {

namespace {

/// A process may have 1024 files open, and the run needs some of them.
constexpr std::size_t most_open = 64;

/// Absolute, so that it does not depend on the working directory, and without a trailing slash.
std::filesystem::path absolute_place(const std::filesystem::path& place) {
  const auto absolute = std::filesystem::absolute(place);
  return absolute.has_filename() ? absolute : absolute.parent_path();
}

/// Adds to the error of an operation what it was for.
void explained(const std::filesystem::path& place, const std::function<void()>& step) {
  try {
    step();
  } catch (const fault_error& e) {
    if (e.what_happened().code != fault_code::io) throw;
    throw fault_error{fault_code::io, fmt::format("cannot write {}: {}", place.string(), e.what())};
  }
}

}  // namespace

durable_folder::durable_folder(file_system& files, const std::filesystem::path& place)
    : files_{files}, place_{absolute_place(place)}, temporary_{temporary_path(place_, getpid())} {
  explained(place_, [&] {
    std::error_code unknown;  // whatever cannot be determined now is reported by commit()
    if (std::filesystem::exists(std::filesystem::symlink_status(place_, unknown)))
      throw fault_error{fault_code::io, "it exists"};
    files_.make_folder(temporary_);
  });
}

durable_folder::~durable_folder() {
  if (state_ == state::open) abandon();
}

void durable_folder::write(const std::string& name, const std::function<void(byte_sink&)>& content) {
  if (!can_be_listed(name))
    throw fault_error{fault_code::bad_input, fmt::format("\"{}\" cannot be a file of {}", name, place_.string())};
  attempt([&] { store(name, content); });
}

void durable_folder::write(const std::string& name, std::string_view text) {
  write(name, [text](byte_sink& out) { out.add(std::as_bytes(std::span{text})); });
}

void durable_folder::commit() {
  attempt([&] {
    const std::string list = to_text(sums_);
    store(checksum_file, [&](byte_sink& out) { out.add(std::as_bytes(std::span{list})); });
    settle_files();
    files_.sync_folder(temporary_);
    publish();
  });
  state_ = state::committed;
}

void durable_folder::attempt(const std::function<void()>& step) {
  if (state_ != state::open)
    throw fault_error{fault_code::internal, fmt::format("{} is used after its end", place_.string())};
  try {
    explained(place_, step);
  } catch (...) {
    abandon();
    throw;
  }
}

void durable_folder::store(const std::string& name, const std::function<void(byte_sink&)>& content) {
  unsettled_.push_back(files_.create(temporary_ / name));
  byte_sink sink{*unsettled_.back()};
  content(sink);
  unsettled_.back()->flush();
  sums_.push_back({name, sink.finish()});
  if (unsettled_.size() == most_open) settle_files();
}

void durable_folder::settle_files() {
  for (const auto& file : unsettled_) {
    file->sync();
    file->close();
  }
  unsettled_.clear();
}

/// A folder whose name a crash may still remove is renamed back: the caller is notified that it was not written.
void durable_folder::publish() {
  files_.rename(temporary_, place_);
  try {
    files_.sync_folder(place_.parent_path());
  } catch (const fault_error&) {
    files_.rename(place_, temporary_);
    throw;
  }
}

void durable_folder::abandon() noexcept {
  state_ = state::abandoned;
  unsettled_.clear();
  try {
    files_.remove_all(temporary_);
  } catch (const std::exception&) {  // the earlier failure is reported; remove_leftovers() tries again
  }
}

}  // namespace hydra
