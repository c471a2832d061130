#include "runtime/storage/verify_folder.hpp"

#include "runtime/storage/checksum_list.hpp"
#include "runtime/storage/file_system.hpp"
#include "runtime/storage/sha256.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace hydra {

namespace {

constexpr std::size_t bytes_at_once = 1 << 20;

[[noreturn]] void refuse(const std::string& why) { throw fault_error{fault_code::damaged, why}; }

/// Passes a file to `take` in pieces.
void read(const std::filesystem::path& file, const std::function<void(std::span<const char>)>& take) {
  const std::string name = file.filename().string();
  if (!std::filesystem::exists(file)) refuse(name + " is missing");
  if (!std::filesystem::is_regular_file(file)) refuse(name + " is no file");
  std::ifstream in{file, std::ios::binary};
  std::vector<char> piece(bytes_at_once);
  while (in) {
    in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    take(std::span{piece}.first(static_cast<std::size_t>(in.gcount())));
  }
  if (in.bad() || !in.eof()) throw file_error("read", file, errno);
}

std::string sha256_of(const std::filesystem::path& file) {
  sha256 hash;
  read(file, [&](std::span<const char> bytes) { hash.add(std::as_bytes(bytes)); });
  return hash.finish();
}

std::vector<checksum> list_of(const std::filesystem::path& folder) {
  std::string text;
  read(folder / checksum_file, [&](std::span<const char> bytes) { text.append(bytes.data(), bytes.size()); });
  return parse_checksums(text);
}

void check(const std::filesystem::path& folder, const checksum& expected) {
  const std::string found = sha256_of(folder / expected.file);
  if (found != expected.sha256)
    refuse(fmt::format("{} has the SHA-256 {} instead of {}", expected.file, found, expected.sha256));
}

/// A list that lost its last lines would not cover all files.
void check_nothing_else(const std::filesystem::path& folder, const std::set<std::string>& listed) {
  for (const auto& entry : std::filesystem::directory_iterator{folder}) {
    const std::string name = entry.path().filename().string();
    if (name != checksum_file && !listed.contains(name)) refuse(fmt::format("{} is not in {}", name, checksum_file));
  }
}

/// Returns the listed names.
std::set<std::string> check_listed(const std::filesystem::path& folder) {
  std::set<std::string> listed;
  for (const checksum& expected : list_of(folder)) {
    if (!listed.insert(expected.file).second) refuse(expected.file + " is listed twice");
    check(folder, expected);
  }
  return listed;
}

template <class Check>
void verify(const std::filesystem::path& folder, const Check& check_all) try {
  check_all();
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

}  // namespace hydra
