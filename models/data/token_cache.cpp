#include "models/data/token_cache.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/storage/atomic_file.hpp"
#include "runtime/storage/file_system.hpp"
#include "runtime/storage/leftovers.hpp"
#include "runtime/storage/mapped_file.hpp"
#include "runtime/storage/sha256.hpp"

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <string_view>

namespace hydra {
namespace {

namespace fs = std::filesystem;
using digest_text = std::array<char, 64>;
using id_span = std::span<const std::uint32_t>;

struct file_header {
  std::array<char, 8> magic;
  std::uint64_t count;
  digest_text key, ids;
};
static_assert(sizeof(file_header) == 144);

constexpr std::array<char, 8> magic{'H', 'Y', 'D', 'R', 'A', 'T', 'O', 'K'};

digest_text finished(sha256& hash) {
  digest_text text;
  std::memcpy(text.data(), hash.finish().data(), text.size());
  return text;
}

digest_text digest_of(std::span<const std::byte> bytes) {
  sha256 hash;
  hash.add(bytes);
  return finished(hash);
}

digest_text digest_of(const std::string& text) { return digest_of(std::as_bytes(std::span{text})); }

fs::path variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

fs::path file_of(const token_recipe& recipe, const fs::path& folder) {
  const digest_text name = digest_of(recipe.key);
  return folder / (std::string{name.begin(), name.end()} + ".tokens");
}

void write_bytes(std::ostream& out, const void* from, std::size_t size) {
  out.write(static_cast<const char*>(from), static_cast<std::streamsize>(size));
}

/// Writes the ids after space for the header, then the header.
void write_file(std::ostream& out, const token_recipe& recipe) {
  file_header header{magic, 0, digest_of(recipe.key), {}};
  write_bytes(out, &header, sizeof header);
  sha256 hash;
  recipe.make([&](id_span ids) {
    header.count += ids.size();
    hash.add(std::as_bytes(ids));
    write_bytes(out, ids.data(), ids.size_bytes());
  });
  header.ids = finished(hash);
  out.seekp(0);
  write_bytes(out, &header, sizeof header);
}

/// Empty for a file that was not written for this key.
std::optional<token_list> checked(std::shared_ptr<const mapped_file> file, const std::string& key) {
  const std::span<const std::byte> bytes = file->bytes();
  file_header header;
  if (bytes.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  const auto body = bytes.subspan(sizeof header);
  if (header.magic != magic || header.key != digest_of(key)) return std::nullopt;
  if (body.size() % 4 != 0 || header.count != body.size() / 4 || header.ids != digest_of(body)) return std::nullopt;
  return token_list{std::move(file), id_span{reinterpret_cast<const std::uint32_t*>(body.data()), body.size() / 4},
                    std::string{header.ids.begin(), header.ids.end()}};
}

std::optional<token_list> load(const fs::path& file, const std::string& key) {
  try {
    return checked(std::make_shared<const mapped_file>(file), key);
  } catch (const fault_error&) {
    return std::nullopt;
  }
}

/// Threads of one process would share the temporary file. Failure to write the cache is not a fault.
void try_to_write(const fs::path& file, const token_recipe& recipe) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock{one_at_a_time};
  std::error_code ignored;
  fs::create_directories(file.parent_path(), ignored);
  try {
    remove_leftovers(posix_file_system(), file.parent_path());
    write_atomically(file, [&](std::ostream& out) { write_file(out, recipe); });
  } catch (const fault_error& e) {
    if (e.what_happened().code != fault_code::io) throw;
  }
}

token_list in_memory(const token_recipe& recipe) {
  std::vector<std::uint32_t> all;
  recipe.make([&](id_span ids) { all.insert(all.end(), ids.begin(), ids.end()); });
  return token_list{std::move(all)};
}

}  // namespace

fs::path token_cache_folder() {
  if (const fs::path own = variable("HYDRA_CACHE"); !own.empty()) return own / "tokens";
  if (const fs::path shared = variable("XDG_CACHE_HOME"); !shared.empty()) return shared / "hydra" / "tokens";
  if (const fs::path home = variable("HOME"); !home.empty()) return home / ".cache" / "hydra" / "tokens";
  return {};
}

token_list cached_tokens(const token_recipe& recipe, const fs::path& folder) {
  if (folder.empty()) return in_memory(recipe);
  const fs::path file = file_of(recipe, folder);
  if (auto tokens = load(file, recipe.key)) return *tokens;
  try_to_write(file, recipe);
  auto tokens = load(file, recipe.key);
  return tokens ? *tokens : in_memory(recipe);
}

}  // namespace hydra
