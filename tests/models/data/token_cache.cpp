#include "models/data/token_cache.hpp"

#include "runtime/base/fault.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <numeric>
#include <vector>

using namespace hydra;
using namespace hydra::test;
namespace fs = std::filesystem;

namespace {

/// Counts how often its tokens 0..n-1 are computed, in two pieces.
struct counted_recipe {
  std::size_t made = 0;

  token_recipe of(std::string key, std::uint32_t n = 1000) {
    return {std::move(key), [this, n](const token_sink& sink) {
              ++made;
              std::vector<std::uint32_t> ids(n);
              std::iota(ids.begin(), ids.end(), 0u);
              sink(std::span{ids}.first(n / 3));
              sink(std::span{ids}.subspan(n / 3));
            }};
  }
};

bool counts(const token_list& tokens, std::size_t n) {
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (tokens[i] != static_cast<std::int64_t>(i)) return false;
  return tokens.size() == n;
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& e : fs::directory_iterator{folder}) files.push_back(e.path());
  return files;
}

void flip_byte(const fs::path& file, std::streamoff at) {
  std::fstream f{file, std::ios::in | std::ios::out | std::ios::binary};
  f.seekg(at);
  const int c = f.get();
  f.seekp(at);
  f.put(static_cast<char>(c ^ 1));
}

}  // namespace

TEST_CASE("tokens are computed once and mapped from then on") {
  const temporary_folder folder;
  counted_recipe recipe;
  CHECK(counts(cached_tokens(recipe.of("a"), folder.path() / "deep" / "er"), 1000));
  CHECK(counts(cached_tokens(recipe.of("a"), folder.path() / "deep" / "er"), 1000));
  CHECK(recipe.made == 1);
  CHECK(files_in(folder.path() / "deep" / "er").size() == 1);  // no temporary file is left
}

TEST_CASE("another key has another file") {
  const temporary_folder folder;
  counted_recipe recipe;
  cached_tokens(recipe.of("a", 30), folder.path());
  CHECK(counts(cached_tokens(recipe.of("b", 60), folder.path()), 60));
  CHECK(recipe.made == 2);
}

TEST_CASE("a file that is damaged anywhere is written again") {
  const temporary_folder folder;
  counted_recipe recipe;
  cached_tokens(recipe.of("a"), folder.path());
  const fs::path file = files_in(folder.path()).front();
  for (const std::streamoff at : {0, 8, 20, 100, 144, 4143}) {
    flip_byte(file, at);
    CHECK(counts(cached_tokens(recipe.of("a"), folder.path()), 1000));
  }
  CHECK(recipe.made == 7);
  fs::resize_file(file, 1000);
  CHECK(counts(cached_tokens(recipe.of("a"), folder.path()), 1000));
  fs::resize_file(file, 0);
  CHECK(counts(cached_tokens(recipe.of("a"), folder.path()), 1000));
  CHECK(recipe.made == 9);
}

TEST_CASE("another text's file under this one's name is not used") {
  const temporary_folder folder;
  counted_recipe recipe;
  cached_tokens(recipe.of("a"), folder.path());
  const fs::path a = files_in(folder.path()).front();
  const fs::path moved = folder.path() / "moved";
  fs::rename(a, moved);
  cached_tokens(recipe.of("b", 10), folder.path());
  for (const fs::path& file : files_in(folder.path()))
    if (file != moved) fs::copy_file(moved, file, fs::copy_options::overwrite_existing);
  CHECK(counts(cached_tokens(recipe.of("b", 10), folder.path()), 10));
}

TEST_CASE("without a writable folder, tokens stay in memory") {
  const temporary_folder folder;
  counted_recipe recipe;
  const fs::path no_folder = folder.write("file", "x") / "below";
  CHECK(counts(cached_tokens(recipe.of("a"), no_folder), 1000));
  CHECK(counts(cached_tokens(recipe.of("a"), ""), 1000));
}

TEST_CASE("an error of the text is passed on and leaves no file") {
  const temporary_folder folder;
  const token_recipe broken{"a", [](const token_sink&) { throw fault_error{fault_code::bad_input, "no text"}; }};
  CHECK_THROWS_WITH(cached_tokens(broken, folder.path()), "no text");
  CHECK(files_in(folder.path()).empty());
}

TEST_CASE("the folder of the cache is taken from the environment") {
  const auto set = [](const char* name, const char* to) { to ? ::setenv(name, to, 1) : ::unsetenv(name); };
  const char* const old = std::getenv("HYDRA_CACHE");
  const std::string kept = old ? old : "";
  set("HYDRA_CACHE", "/here");
  CHECK(token_cache_folder() == "/here/tokens");
  set("HYDRA_CACHE", nullptr);
  set("XDG_CACHE_HOME", "/there");
  CHECK(token_cache_folder() == "/there/hydra/tokens");
  set("XDG_CACHE_HOME", nullptr);
  CHECK(token_cache_folder() == fs::path{std::getenv("HOME") ? std::getenv("HOME") : ""} / ".cache/hydra/tokens");
  set("HYDRA_CACHE", old ? kept.c_str() : nullptr);
}

TEST_CASE("leftovers of a killed process in the cache are removed by the next process that writes there") {
  const temporary_folder folder;
  const auto left = folder.write(".0123.tokens.99999999.tmp", "half of a cache");
  counted_recipe recipe;
  cached_tokens(recipe.of("key"), folder.path());
  CHECK_FALSE(fs::exists(left));
}
