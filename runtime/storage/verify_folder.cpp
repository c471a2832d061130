#include "runtime/storage/verify_folder.hpp"

#include "runtime/base/regular_file.hpp"
#include "runtime/base/text_file.hpp"
#include "runtime/storage/checksum_list.hpp"
#include "runtime/storage/file_system.hpp"
#include "runtime/storage/sha256.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace hydra {

namespace {

constexpr std::size_t bytes_at_once = 1 << 20;

[[noreturn]] void report_damage(const std::string& why) { throw fault_error{fault_code::damaged, why}; }

/// What belongs to the folder and is not a file, or not there, has been damaged; a file that cannot be inspected may be
/// whole.
void require_there(const std::filesystem::path& file) {
  std::error_code error;
  const auto kind = std::filesystem::status(file, error).type();
  if (kind == std::filesystem::file_type::none) throw file_error("read", file, error.value());
  if (kind == std::filesystem::file_type::not_found) report_damage(file.filename().string() + " is missing");
  if (kind != std::filesystem::file_type::regular) report_damage(file.filename().string() + " is not a file");
}

std::string sha256_of(const std::filesystem::path& path) {
  require_there(path);
  const regular_file file{path};
  std::vector<char> piece(bytes_at_once);
  sha256 hash;
  for (std::uint64_t at = 0; const std::size_t got = file.read(piece, at); at += got)
    hash.add(std::as_bytes(std::span{piece}.first(got)));
  return hash.finish();
}

std::vector<checksum> list_of(const std::filesystem::path& folder) {
  const auto file = folder / checksum_file;
  require_there(file);
  if (std::filesystem::file_size(file) > largest_text(text_kind::checksums))
    report_damage(fmt::format("{} is too large", checksum_file));
  return parse_checksums(read_text(file, text_kind::checksums));
}

void check(const std::filesystem::path& folder, const checksum& expected) {
  const std::string found = sha256_of(folder / expected.file);
  if (found != expected.sha256)
    report_damage(fmt::format("{} has the SHA-256 {} instead of {}", expected.file, found, expected.sha256));
}

/// A list that lost its last lines would not cover all files.
void check_nothing_else(const std::filesystem::path& folder, const std::set<std::string>& listed) {
  for (const auto& entry : std::filesystem::directory_iterator{folder}) {
    const std::string name = entry.path().filename().string();
    if (name != checksum_file && !listed.contains(name))
      report_damage(fmt::format("{} is not in {}", name, checksum_file));
  }
}

/// Returns the listed names.
std::set<std::string> check_listed(const std::filesystem::path& folder) {
  std::set<std::string> listed;
  for (const checksum& expected : list_of(folder)) {
    if (!listed.insert(expected.file).second) report_damage(expected.file + " is listed twice");
    check(folder, expected);
  }
  return listed;
}

template <class Check>
auto verify(const std::filesystem::path& folder, const Check& check_all) try {
  return check_all();
} catch (const fault_error& e) {
  if (e.what_happened().code != fault_code::damaged) throw;
  throw fault_error{fault_code::damaged, fmt::format("{} is damaged: {}", folder.string(), e.what())};
} catch (const std::filesystem::filesystem_error& e) {
  throw file_error("read", folder, e.code().value());
}

}  // namespace

void verify_folder(const std::filesystem::path& folder) {
  verify(folder, [&] { check_nothing_else(folder, check_listed(folder)); });
}

void verify_listed(const std::filesystem::path& folder) {
  verify(folder, [&] { check_listed(folder); });
}

std::optional<std::string> changed_file(const std::filesystem::path& folder,
                                        const std::function<bool(const std::string& file)>& among) {
  return verify(folder, [&]() -> std::optional<std::string> {
    for (checksum& expected : list_of(folder))
      if (among(expected.file) && sha256_of(folder / expected.file) != expected.sha256) return std::move(expected.file);
    return std::nullopt;
  });
}

}  // namespace hydra
