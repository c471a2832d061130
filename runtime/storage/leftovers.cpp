#include "runtime/storage/leftovers.hpp"

#include <signal.h>
#include <unistd.h>

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

namespace {

constexpr std::string_view suffix = ".tmp";

/// The process id in the name of a temporary folder.
std::optional<pid_t> process_in(std::string_view name) {
  if (!name.starts_with('.') || !name.ends_with(suffix)) return {};
  name.remove_suffix(suffix.size());
  const std::string_view number = name.substr(name.rfind('.') + 1);
  pid_t process = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), process);
  const bool whole = error == std::errc{} && end == number.data() + number.size();
  return whole && process > 0 ? std::optional{process} : std::nullopt;
}

bool lives(pid_t process) { return process != getpid() && (::kill(process, 0) == 0 || errno == EPERM); }

bool is_leftover(const std::filesystem::directory_entry& entry) {
  if (entry.is_symlink()) return false;
  const auto process = process_in(entry.path().filename().string());
  return process && !lives(*process);
}

std::vector<std::filesystem::path> leftovers_in(const std::filesystem::path& parent) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator{parent})
    if (is_leftover(entry)) found.push_back(entry.path());
  return found;
}

}  // namespace

std::filesystem::path temporary_path(const std::filesystem::path& place, pid_t process) {
  return place.parent_path() / fmt::format(".{}.{}{}", place.filename().string(), process, suffix);
}

std::size_t remove_leftovers(file_system& files, const std::filesystem::path& parent) try {
  if (!std::filesystem::exists(parent)) return 0;
  const auto leftovers = leftovers_in(parent);
  for (const auto& folder : leftovers) files.remove_all(folder);
  return leftovers.size();
} catch (const std::filesystem::filesystem_error& e) {
  throw file_error("search", parent, e.code().value());
}

}  // namespace hydra
