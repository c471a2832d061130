#pragma once
// A client of control.sock that can do everything wrong.

#include "apps/steering/descriptor.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace hydra::apps {

class socket_client {
 public:
  explicit socket_client(const std::filesystem::path& folder);

  /// Returns false if the server has closed the connection.
  bool send(std::string_view bytes) const;
  /// Sends as much as the sockets' buffers hold, and returns the number of bytes.
  std::size_t send_without_waiting(std::string_view bytes) const;
  /// The next line without its end; empty if the server has closed the connection.
  std::string receive();
  /// A line there, a line back.
  std::string ask(const std::string& line);

 private:
  descriptor socket_;
  std::string received_;
};

/// Number of open descriptors of this process.
std::ptrdiff_t open_descriptors();

}  // namespace hydra::apps
