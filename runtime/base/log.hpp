#pragma once
// Log lines are subject-verb-object with ids and bytes: "device 1 demotes shard 3 of gpt-a, 412 MiB". On stderr.

#include "runtime/base/verbosity.hpp"

#include <spdlog/spdlog.h>

#include <memory>

// Declared by libfmt; with spdlog's own header it would be compiled again in every file that logs (two seconds each).
extern template void fmt::detail::vformat_to<char>(buffer<char>&, string_view,
                                                   basic_format_args<buffer_context<char>>, locale_ref);

namespace hydra {

/// A logger of its own (not registered globally): one per session, passed to the actors.
std::shared_ptr<spdlog::logger> make_logger(verbosity level);

}  // namespace hydra
