#include "apps/steering/control_client.hpp"

#include "apps/run_folder/folder_lock.hpp"
#include "apps/run_folder/run_folder.hpp"
#include "apps/run_folder/shell_word.hpp"
#include "apps/steering/answer.hpp"
#include "apps/steering/folder_socket.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/path_kind.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/uninterrupted.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cerrno>
#include <optional>
#include <string>
#include <system_error>

namespace hydra::apps {

namespace {

using file_type = std::filesystem::file_type;

/// Why nobody answers in the folder, and what to do.
[[noreturn]] void refuse_folder(const std::filesystem::path& folder, int error) {
  const auto kind = kind_of(folder);
  if (kind == file_type::not_found) refuse(folder, "no such run folder");
  if (kind != file_type::directory) refuse(folder, "a file; the folder of a run is expected, such as runs/quickstart");
  if (is_of_program(folder))
    refuse(folder,
           "this is the run of a C++ program, which alone steers it: session::stop, pause, resume (docs/cpp.md)");
  if (kind_of(folder / workload_file) == file_type::not_found)
    refuse(folder, fmt::format("this is not a run folder: it holds no {}", workload_file));
  if (error == EACCES || error == EPERM)
    refuse(folder, "the run in it belongs to another user, who alone can control it");
  if (error != ENOENT && error != ECONNREFUSED)
    refuse(folder / control_socket_name, std::generic_category().message(error));
  if (is_locked(folder)) refuse(folder, "the run in it takes no commands now: it has just started, or is about to end");
  const std::string word = shell_word(folder.string());
  refuse(folder, fmt::format("no run is under way in it; hydra report {} shows what it has done", word));
}

void send_all(const descriptor& to, std::string_view text) {
  while (!text.empty()) {
    const auto n = uninterrupted([&] { return ::send(to.number(), text.data(), text.size(), MSG_NOSIGNAL); });
    if (n < 0) return;  // the answer, or its absence, says why
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

/// Nothing if the run has closed the connection instead.
std::optional<std::string> receive_line(const descriptor& from) {
  std::string line;
  std::array<char, 65536> part;
  for (;;) {
    const auto n = uninterrupted([&] { return ::recv(from.number(), part.data(), part.size(), 0); });
    if (n <= 0) return std::nullopt;
    line.append(part.data(), static_cast<std::size_t>(n));
    if (line.ends_with('\n')) return line;
  }
}

}  // namespace

nlohmann::ordered_json ask_run(const std::filesystem::path& folder, const nlohmann::ordered_json& command) {
  const descriptor socket = connect_in(folder);
  if (!socket) refuse_folder(folder, errno);
  send_all(socket, json_text(command) + "\n");
  const auto line = receive_line(socket);
  if (!line)
    refuse(folder, fmt::format("the run has ended before it answered; hydra report {} shows what it has done",
                               shell_word(folder.string())));
  auto answer = parse_ordered_json(*line);
  if (const auto error = answer.find("error"); error != answer.end()) refuse(error->get<std::string>());
  return answer;
}

}  // namespace hydra::apps
