#pragma once
// Pulls the files of an offer, chunk by chunk.

#include "actors/protocol/cluster.hpp"

#include <caf/after.hpp>
#include <caf/blocking_actor.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace hydra {

/// Bytes of a chunk, and how many are asked for before they have come: with fewer the connection is idle in between,
/// with more, other messages wait longer (chunks of 1 MiB move a fifth faster, but some messages then take 18 ms
/// instead of 4).
inline constexpr std::uint32_t chunk_bytes = 256 << 10;
inline constexpr std::size_t chunk_credit = 4;

inline constexpr caf::timespan silence_limit = std::chrono::seconds(30);  ///< after which a source has failed

/// Waits for a message of a source that `self` monitors. Empty: `got` has come.
template <class Message>
fault receive_one(caf::blocking_actor& self, Message& got) {
  fault why;
  self.receive([&](Message& m) { got = std::move(m); },
               [&](const caf::down_msg&) {
                 why = {fault_code::io, "the connection was lost"};
               },
               caf::after(silence_limit) >>
                   [&] {
                     why = {fault_code::io, "nothing came for 30 s"};
                   });
  return why;
}

struct pulled_file {
  std::uint32_t file = 0;  ///< place in the offer
  std::string name{};      ///< for messages
  byte_count size{};
};

/// Some files of an offer, one after the other. More is asked for before the last has come.
class chunk_puller {
 public:
  /// `self` monitors the source.
  chunk_puller(caf::blocking_actor& self, chunk_source from, std::uint64_t offer, std::vector<pulled_file> files);

  /// The next file, whole, in pieces. Throws fault_error {damaged} if it is not as it was offered, {io} if the
  /// connection is lost, or nothing comes for 30 s.
  void pull_next(const std::function<void(std::span<const std::byte>)>& take);

 private:
  void ask();

  caf::blocking_actor& self_;
  chunk_source from_;
  std::uint64_t offer_;
  std::deque<pulled_file> files_;  ///< not pulled yet
  std::size_t asking_ = 0;         ///< the first of them that was not asked for whole
  std::uint64_t asked_ = 0;        ///< bytes of that one
  std::size_t open_ = 0;           ///< chunks that were asked for and have not come
};

}  // namespace hydra
