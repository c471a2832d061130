#include "runtime/storage/byte_sink.hpp"

#include "runtime/storage/writable_file.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

using namespace hydra;

namespace {

/// Accepts at most `limit` bytes per write.
struct memory_file final : writable_file {
  explicit memory_file(std::size_t most) : limit{most} {}
  std::size_t write(std::span<const std::byte> bytes) override {
    const auto taken = bytes.first(std::min(bytes.size(), limit));
    content.insert(content.end(), taken.begin(), taken.end());
    largest = std::max(largest, bytes.size());
    return taken.size();
  }
  void flush() override {}
  void sync() override {}
  void close() override {}

  std::size_t limit, largest = 0;
  std::vector<std::byte> content;
};

std::vector<std::byte> pattern(std::size_t n) {
  std::vector<std::byte> bytes(n);
  for (std::size_t i = 0; i < n; ++i) bytes[i] = static_cast<std::byte>(i * 2654435761u >> 13);
  return bytes;
}

std::string hash_of(std::span<const std::byte> bytes) {
  sha256 hash;
  hash.add(bytes);
  return hash.finish();
}

}  // namespace

TEST_CASE("a sink writes all bytes once and in order, however few the file accepts at a time") {
  const auto bytes = pattern((3 << 20) + 17);
  const std::size_t limit = GENERATE(1000u, 65536u, 1u << 30);
  memory_file file{limit};
  byte_sink sink{file};
  sink.add(std::span{bytes}.first(5));
  sink.add(std::span{bytes}.subspan(5));
  CHECK((file.content == bytes));  // not printed: megabytes
  CHECK(sink.finish() == hash_of(bytes));
}

TEST_CASE("a sink writes pieces that stay in the cache between hashing and writing") {
  memory_file file{1u << 30};
  byte_sink{file}.add(pattern(5 << 20));
  CHECK(file.largest == 1u << 20);
}

TEST_CASE("an empty sink writes nothing") {
  memory_file file{1};
  byte_sink sink{file};
  sink.add({});
  CHECK(file.content.empty());
  CHECK(sink.finish() == hash_of({}));
}
