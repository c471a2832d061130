#pragma once
// What a path may lead to instead of a file. A program that opens some of these waits for ever, or reads without an
// end.

#include "runtime/base/fault.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <exception>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace hydra::test {

struct special_file {
  std::string refusal;  ///< what a message says of it
  std::function<void(const std::filesystem::path&)> make;
};

inline void make_socket(const std::filesystem::path& place) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  if (place.string().size() >= sizeof address.sun_path) throw std::runtime_error{"the path is too long for a socket"};
  place.string().copy(address.sun_path, sizeof address.sun_path - 1);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int bound = ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  ::close(socket);
  if (bound != 0) throw std::runtime_error{"no socket"};
}

inline void make_pipe(const std::filesystem::path& place) {
  if (::mkfifo(place.c_str(), 0600) != 0) throw std::runtime_error{"no pipe"};
}

inline const std::vector<special_file>& special_files() {
  namespace fs = std::filesystem;
  static const std::vector<special_file> all{
      {"a folder", [](const fs::path& p) { fs::create_directory(p); }},
      {"a pipe", make_pipe},
      {"a socket", make_socket},
      {"a device", [](const fs::path& p) { fs::create_symlink("/dev/zero", p); }},
      {"no such file", [](const fs::path& p) { fs::create_symlink("nowhere", p); }},
      {"Too many levels of symbolic links", [](const fs::path& p) { fs::create_symlink(p.filename(), p); }}};
  return all;
}

/// The fault of what an action throws; none if it throws nothing.
inline fault fault_of(const std::function<void()>& action) {
  try {
    action();
    return {};
  } catch (...) {
    return to_fault(std::current_exception());
  }
}

}  // namespace hydra::test
