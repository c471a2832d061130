#pragma once
// How fast a checkpoint moves between two processes of a cluster, and what it costs the messages beside it.

#include "apps/bench/measurement.hpp"
#include "runtime/base/bytes.hpp"

#include <cstdint>
#include <string>

namespace hydra::apps {

struct moves_options {
  std::uint64_t bytes = std::uint64_t{1} << 30;  ///< of parameters
  int repeats = 3;
};

struct moves_result {
  measurement moved{};      ///< MiB/s of a folder from disk to disk, over TLS, verified
  measurement socket{};     ///< of a TLS socket that carries as many bytes, from memory to memory, in the same repeat
  measurement share{};      ///< moved / socket
  measurement written{};    ///< MiB/s at which one process writes such a folder
  measurement to_memory{};  ///< of the same move to a file system in memory, over the socket
  measurement median{}, p99{};       ///< of messages from one process to the other and back during the move, in ms
  measurement sender{}, receiver{};  ///< MiB by which the memory of each process has grown at most
};

/// The receiver is a process of its own, forked before anything else is started.
moves_result measure_moves(const moves_options& o);

std::string to_table(const moves_result& r);
std::string to_json(const moves_result& r, const machine_description& on);

}  // namespace hydra::apps
