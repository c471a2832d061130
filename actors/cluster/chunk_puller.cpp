#include "actors/cluster/chunk_puller.hpp"

#include <caf/actor_cast.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace hydra {

chunk_puller::chunk_puller(caf::blocking_actor& self, chunk_source from, std::uint64_t offer,
                           std::vector<pulled_file> files)
    : self_(self), from_(std::move(from)), offer_(offer), files_(files.begin(), files.end()) {}

void chunk_puller::pull_next(const std::function<void(std::span<const std::byte>)>& take) {
  const auto file = files_.front();
  for (std::uint64_t at = 0; at < file.size.value();) {
    ask();
    chunk got;
    if (const auto why = receive_one(self_, got); why || got.why) {
      throw fault_error(why ? why : got.why);
    }
    if (got.file != file.file || got.offset != at || got.bytes.empty()) {
      throw fault_error(fault_code::damaged, fmt::format("{} came otherwise than it was offered", file.name));
    }
    --open_;
    at += got.bytes.size();
    take(std::as_bytes(std::span(got.bytes)));
  }
  files_.pop_front();
  if (asking_ == 0) {
    asked_ = 0;
  } else {
    --asking_;
  }
}

void chunk_puller::ask() {
  while (open_ < chunk_credit && asking_ < files_.size()) {
    const auto left = files_[asking_].size.value() - asked_;
    if (left == 0) {
      ++asking_;
      asked_ = 0;
      continue;
    }
    const auto bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(chunk_bytes, left));
    self_.send(from_, want_chunk{offer_, files_[asking_].file, asked_, bytes, caf::actor_cast<chunk_receiver>(&self_)});
    asked_ += bytes;
    ++open_;
  }
}

}  // namespace hydra
