#pragma once
// The socket control.sock of a run folder. A path in a socket's address has at most 107 bytes; that of a run folder may
// be longer, so that the address names the open folder instead.

#include "apps/steering/descriptor.hpp"

#include <filesystem>

namespace hydra::apps {

inline constexpr const char* control_socket_name = "control.sock";

/// Listens, readable and writable for the owner only. The socket that a run has left there when it was killed is
/// replaced: the caller holds the folder's lock. Throws fault_error{io}, also if another kind of file has the name.
descriptor listen_in(const std::filesystem::path& folder);

/// Removes the socket's file.
void remove_socket(const std::filesystem::path& folder) noexcept;

/// Connects to the run. No descriptor if nobody listens: then errno says why.
descriptor connect_in(const std::filesystem::path& folder) noexcept;

}  // namespace hydra::apps
