#include "apps/commands/tokenizer_files.hpp"

#include "runtime/storage/durable_folder.hpp"
#include "tests/apps/temporary_folder.hpp"
#include "tests/models/tokenizers/made_tokenizers.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <string>

namespace hydra::apps {

namespace {

/// Copies the files of a tokenizer into the folder "out".
void copy_named(const temporary_folder& folder, const tokenizer_choice& choice) {
  durable_folder into{posix_file_system(), folder.path() / "out"};
  copy_tokenizer_files(into, choice);
  into.commit();
}

}  // namespace

TEST_CASE("a tokenizer's files are copied under the names that others look for, with the settings next to them") {
  const temporary_folder folder;
  folder.write("my-vocab.json", "v");
  folder.write("my-merges.txt", "m");
  folder.write("tokenizer_config.json", "c");
  copy_named(folder, {.vocab = folder.path() / "my-vocab.json", .merges = folder.path() / "my-merges.txt"});
  CHECK(folder.read("out/vocab.json") == "v");
  CHECK(folder.read("out/merges.txt") == "m");
  CHECK(folder.read("out/tokenizer_config.json") == "c");
}

TEST_CASE("a tokenizer in one file keeps its kind, and data without one leave nothing") {
  const temporary_folder one, list, pieces, none;
  one.write("t.json", "j");
  copy_named(one, {.file = one.path() / "t.json"});
  CHECK(one.read("out/tokenizer.json") == "j");
  list.write("words.txt", "w");
  copy_named(list, {.file = list.path() / "words.txt"});
  CHECK(list.read("out/vocab.txt") == "w");
  pieces.write("spiece.model", "m");
  copy_named(pieces, {.file = pieces.path() / "spiece.model"});
  CHECK(pieces.read("out/tokenizer.model") == "m");
  copy_named(none, {});
  CHECK(none.read("out/tokenizer.json").empty());
}

TEST_CASE("a tokenizer.json that gets tokens gets those of the settings before them, so that all keep their ids") {
  const temporary_folder folder;
  folder.write("tokenizer.json", test::bpe_file({}).dump());
  folder.write("tokenizer_config.json", R"({"eos_token": "<|im_end|>", "unk_token": "!",
    "added_tokens_decoder": {"256": {"content": "<pad>", "special": true, "rstrip": true}}})");
  const tokenizer_choice choice{.file = folder.path(), .added = {"<x>"}};
  const auto before = open_tokenizer(choice);
  copy_named(folder, choice);
  const auto list = nlohmann::json::parse(folder.read("out/tokenizer.json")).at("added_tokens");
  REQUIRE(list.size() == 4);
  CHECK(list[0].at("content") == "!");
  CHECK(list[0].at("id") == 33);
  CHECK(list[1].at("content") == "<pad>");
  CHECK(list[1].at("rstrip") == true);
  CHECK(list[2].at("content") == "<|im_end|>");
  CHECK(list[2].at("id") == 257);
  CHECK(list[2].at("special") == true);
  CHECK(list[3].at("content") == "<x>");
  CHECK(list[3].at("id") == 258);

  const auto after = open_tokenizer({.file = folder.path() / "out"});
  const std::string text = "a<x>b<|im_end|>!<pad> c";
  CHECK(after->encode(text) == before->encode(text));
  CHECK(after->special().end_of_text == before->special().end_of_text);
  std::filesystem::remove(folder.path() / "out/tokenizer_config.json");
  CHECK(open_tokenizer({.file = folder.path() / "out"})->encode(text) == before->encode(text));
}

TEST_CASE("all files of a tokenizer in its folder are copied, and a folder without any is refused") {
  const temporary_folder folder, empty;
  folder.write("vocab.json", "v");
  folder.write("merges.txt", "m");
  folder.write("special_tokens_map.json", "s");
  folder.write("model.safetensors", "weights");
  copy_named(folder, {.file = folder.path()});
  CHECK(folder.read("out/vocab.json") == "v");
  CHECK(folder.read("out/merges.txt") == "m");
  CHECK(folder.read("out/special_tokens_map.json") == "s");
  CHECK_FALSE(std::filesystem::exists(folder.path() / "out/model.safetensors"));
  CHECK_THROWS_WITH(copy_named(empty, {.file = empty.path()}),
                    Catch::Contains(empty.path().string()) && Catch::Contains("vocab.txt"));
}

TEST_CASE("a vocabulary without merges is WordPiece's vocab.txt") {
  const temporary_folder folder;
  folder.write("words", "w");
  copy_named(folder, {.vocab = folder.path() / "words"});
  CHECK(folder.read("out/vocab.txt") == "w");
  CHECK_FALSE(std::filesystem::exists(folder.path() / "out/vocab.json"));
}

}  // namespace hydra::apps
