#include "apps/steering/folder_socket.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/base/uninterrupted.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <system_error>

namespace hydra::apps {

namespace {

constexpr int backlog = 64;

[[noreturn]] void fail(const std::filesystem::path& folder, const std::string& why) {
  throw fault_error{fault_code::io, fmt::format("{}: the run cannot be reached by hydra control: {}",
                                                (folder / control_socket_name).string(), why)};
}

[[noreturn]] void fail(const std::filesystem::path& folder) { fail(folder, std::generic_category().message(errno)); }

descriptor open_folder(const std::filesystem::path& folder) noexcept {
  return descriptor{::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
}

sockaddr_un address_in(const descriptor& folder) noexcept {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  *fmt::format_to(address.sun_path, "/proc/self/fd/{}/{}", folder.number(), control_socket_name) = '\0';
  return address;
}

void remove_stale(const descriptor& opened, const std::filesystem::path& folder) {
  struct stat found {};
  if (::fstatat(opened.number(), control_socket_name, &found, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (!S_ISSOCK(found.st_mode)) fail(folder, "a file that is not a socket has its name");
  if (::unlinkat(opened.number(), control_socket_name, 0) != 0) fail(folder);
}

/// SOCK_CLOEXEC: no program that the run starts inherits it.
descriptor new_socket() noexcept { return descriptor{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)}; }

}  // namespace

descriptor listen_in(const std::filesystem::path& folder) {
  const descriptor opened = open_folder(folder);
  if (!opened) fail(folder);
  remove_stale(opened, folder);
  const sockaddr_un address = address_in(opened);
  descriptor listening = new_socket();
  // Before bind: the file is then made with this mode, and the process's umask, which other threads share, stays.
  if (!listening || ::fchmod(listening.number(), S_IRUSR | S_IWUSR) != 0 ||
      ::bind(listening.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listening.number(), backlog) != 0)
    fail(folder);
  return listening;
}

void remove_socket(const std::filesystem::path& folder) noexcept {
  if (const descriptor opened = open_folder(folder)) ::unlinkat(opened.number(), control_socket_name, 0);
}

descriptor connect_in(const std::filesystem::path& folder) noexcept {
  const descriptor opened = open_folder(folder);
  if (!opened) return {};
  const sockaddr_un address = address_in(opened);
  descriptor connected = new_socket();
  const auto connect = [&] {
    return ::connect(connected.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  };
  if (!connected || uninterrupted(connect) != 0) {
    const int why = errno;  // closing may change it
    connected = {};
    errno = why;
    return {};
  }
  return connected;
}

}  // namespace hydra::apps
