#pragma once
// Pulls folders that another process offers, and writes them.

#include "actors/protocol/cluster.hpp"

#include <caf/actor_system.hpp>

#include <filesystem>
#include <functional>

namespace hydra {

struct folder_transfer {
  offered_folders what;
  std::filesystem::path into;
  bool replaces = false;  ///< what is in `into` is removed first
};

/// On a thread of its own, as it waits for disks. Each folder appears complete, with the checksums that its owner has,
/// or not at all; one that is there is not pulled. Then the offer is dropped, and `done` called, once: with a fault
/// {io} or {damaged} if not all folders are there, with {bad_input}, before this returns, if no thread can be made. A
/// source that is silent for 30 s has failed.
void receive_folders(caf::actor_system& system, folder_transfer transfer, std::function<void(const fault&)> done);

}  // namespace hydra
