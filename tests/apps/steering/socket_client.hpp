#pragma once
// A client of control.sock, or of a port, that can do everything wrong.

#include "apps/steering/descriptor.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace hydra::apps {

class socket_client {
 public:
  explicit socket_client(const std::filesystem::path& folder);
  /// Of a port at 127.0.0.1.
  explicit socket_client(int port);

  /// Returns false if the server has closed the connection.
  bool send(std::string_view bytes) const;
  /// Sends as much as the sockets' buffers hold, and returns the number of bytes.
  std::size_t send_without_waiting(std::string_view bytes) const;
  /// The next line without its end; empty if the server has closed the connection.
  std::string receive();
  /// All that comes until the server has closed the connection.
  std::string receive_all();
  /// Sends nothing more.
  void hang_up() const;
  /// A line there, a line back.
  std::string ask(const std::string& line);

 private:
  explicit socket_client(descriptor connected);

  descriptor socket_;
  std::string received_;
};

/// Number of open descriptors of this process.
std::ptrdiff_t open_descriptors();

}  // namespace hydra::apps
