#include "models/data/mapped_file.hpp"

#include "models/data_catalog.hpp"
#include "runtime/fault.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

TEST_CASE("a mapped file that is written to is told, one that is replaced or removed stays what it was") {
  const temporary_folder folder;
  const auto file = folder.write("a", "12345678");
  const mapped_file mapped{file};
  CHECK_NOTHROW(mapped.require_unchanged());
  std::filesystem::rename(folder.write("b", "1"), file);
  CHECK_NOTHROW(mapped.require_unchanged());
  CHECK(mapped.bytes().size() == 8);
  CHECK(mapped.bytes().back() == std::byte{'8'});
  std::filesystem::remove(file);
  CHECK_NOTHROW(mapped.require_unchanged());
}

TEST_CASE("a mapped file that became shorter, or has other bytes, cannot be read any more") {
  const temporary_folder folder;
  const auto file = folder.write("a", "12345678");
  const mapped_file mapped{file};
  SECTION("shorter") { std::filesystem::resize_file(file, 4); }
  SECTION("other bytes, written later") {
    std::ofstream{file, std::ios::in} << "other...";
    std::filesystem::last_write_time(file, std::filesystem::last_write_time(file) + std::chrono::seconds{1});
  }
  CHECK_THROWS_WITH(mapped.require_unchanged(), Contains(file.string()) && Contains("has been written to since"));
}

TEST_CASE("data of every kind that is mapped say that their file has changed") {
  const temporary_folder folder;
  std::string text;
  for (int i = 0; i < 64; ++i) text += "abcdefg\n";
  std::string records;
  for (int i = 0; i < 4; ++i) records += "{\"text\": \"some text\"}\n";
  const auto bytes = folder.write("bytes.txt", text), lines = folder.write("lines.jsonl", records),
             ids = folder.write("ids.bin", std::string(64, '\0')), pictures = folder.write("c.bin", std::string(3073, '\0')),
             table = folder.write("t.csv", "text\nsome text\nother text\n");
  const std::vector<std::pair<std::filesystem::path, data_description>> all{
      {bytes, {text_files{.train = bytes, .tokenizer = {.bytes = true}}}},
      {lines, {jsonl_files{.train = lines, .tokenizer = {.bytes = true}}}},
      {ids, {token_files{.train = ids, .vocabulary = 4}}},
      {pictures, cifar({.train = {pictures}})},
      {table, {csv_files{.train = table, .text = "text", .tokenizer = {.bytes = true}}}}};
  for (const auto& [file, description] : all) {
    INFO(file.filename());
    const auto source = open_data(description, 4);
    CHECK_NOTHROW(source->require_unchanged());
    std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
    CHECK_THROWS_WITH(source->require_unchanged(), Contains("has been written to since"));
  }
}
