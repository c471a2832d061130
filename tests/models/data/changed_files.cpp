#include "models/data/data_catalog.hpp"
#include "runtime/base/fault.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

TEST_CASE("a changed file is reported by data of every kind that is mapped") {
  const temporary_folder folder;
  std::string text;
  for (int i = 0; i < 64; ++i) text += "abcdefg\n";
  std::string records;
  for (int i = 0; i < 4; ++i) records += "{\"text\": \"some text\"}\n";
  const auto bytes = folder.write("bytes.txt", text), lines = folder.write("lines.jsonl", records),
             ids = folder.write("ids.bin", std::string(64, '\0')),
             pictures = folder.write("c.bin", std::string(3073, '\0')),
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
