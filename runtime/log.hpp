#pragma once
// Log lines are subject-verb-object with ids and bytes: "device 1 demotes shard 3 of gpt-a, 412 MiB". On stderr.

#include <spdlog/spdlog.h>

#include <memory>

namespace hydra {

enum class verbosity { quiet, normal, debug };

/// A logger of its own (no global registry): one per session, handed to the actors.
std::shared_ptr<spdlog::logger> make_logger(verbosity level);

}  // namespace hydra
