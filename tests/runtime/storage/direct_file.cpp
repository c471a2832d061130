#include "runtime/storage/direct_file.hpp"

#include "runtime/base/fault.hpp"
#include "tests/support/stored_folder.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <string>

using namespace hydra;
using namespace hydra::test;

namespace {

/// A text in which bytes that are a block apart differ.
std::string long_text(std::size_t n) {
  std::string text(n, '\0');
  for (std::size_t i = 0; i < n; ++i) {
    text[i] = static_cast<char>(i * 7 + i / 4096);
  }
  return text;
}

void write_all(writable_file& file, std::string text, std::size_t piece) {
  for (std::size_t at = 0; at < text.size();) {
    const auto bytes = std::as_bytes(std::span(text)).subspan(at, std::min(piece, text.size() - at));
    const auto n = file.write(bytes);
    std::fill_n(text.begin() + static_cast<std::ptrdiff_t>(at), n, '?');  // the caller's memory may change
    at += n;
  }
}

}  // namespace

TEST_CASE("a direct file has the bytes that were written, whatever its length and the pieces") {
  const auto place = GENERATE(std::filesystem::temp_directory_path(), std::filesystem::path("/dev/shm"));
  const auto length = GENERATE(std::size_t{0}, std::size_t{1}, std::size_t{4095}, std::size_t{4096}, std::size_t{4097},
                               std::size_t{1 << 20}, std::size_t{(1 << 20) + 5}, std::size_t{3'000'001});
  const auto path = place / ("hydra-direct-" + std::to_string(length));
  std::filesystem::remove(path);
  {
    direct_file file(path);
    write_all(file, long_text(length), 700'001);
    file.flush();
    CHECK(std::filesystem::file_size(path) == length);
    file.sync();
    file.close();
  }
  CHECK((text_of(path) == long_text(length)));
  std::filesystem::remove(path);
}

TEST_CASE("a direct file replaces no existing file") {
  const temporary_folder folder;
  overwrite(folder.path() / "there", "old");
  CHECK_THROWS_AS(direct_file(folder.path() / "there"), fault_error);
  CHECK(text_of(folder.path() / "there") == "old");
}
