#include "models/families/vocabulary.hpp"

#include "models/data/data_catalog.hpp"
#include "models/families/llama/llama.hpp"
#include "runtime/base/fault.hpp"
#include "tests/models/data/read_sample.hpp"
#include "tests/models/tokenizers/made_tokenizers.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace vocabulary_test {

using ids = std::vector<std::int64_t>;
using notes = std::vector<std::string>;

/// The 256 bytes, and two tokens beyond a vocabulary of 256: <pad> (256) and <image> (257).
struct byte_texts : temporary_folder {
  byte_texts() {
    ::setenv("HYDRA_CACHE", (path() / "cache").c_str(), 1);
    nlohmann::json file = bpe_file({});
    file["added_tokens"] = {added(256, "<pad>"), added(257, "<image>")};
    write("tokenizer.json", file.dump());
    write("tokenizer_config.json", R"({"pad_token": "<pad>"})");
  }
  ~byte_texts() { ::unsetenv("HYDRA_CACHE"); }

  std::shared_ptr<const data_source> windows(const std::string& words) const {
    return open_data(text(write("t.txt", words), {}, {.file = path()}), 4);
  }
  std::shared_ptr<const data_source> records(const std::string& words) const {
    return open_data(
        jsonl({.train = write("t.jsonl", R"({"text": ")" + words + "\"}\n"), .tokenizer = {.file = path()}}), 4);
  }
};

chain built(const data_source& data) {
  return llama({.layers = 1, .width = 8, .heads = 2, .hidden = 12, .context = 4, .vocabulary = 256}).build(data);
}

TEST_CASE(
    "texts decide whether a vocabulary is large enough, and a note names the tokens that only the tokenizer has") {
  const byte_texts folder;
  for (const auto& data : {folder.windows("ab ab ab"), folder.records("ab")}) {
    CHECK(data->classes() == 258);
    CHECK(data->observed_vocabulary() == 'b' + 1);
    CHECK(
        built(*data).notes() ==
        notes{data->describe() +
              ": its tokenizer has tokens beyond the vocabulary of 256, which the texts do not have: <pad>, <image>"});
  }
}

TEST_CASE("a text with a token beyond the vocabulary is refused by the token and its id, also in validation") {
  const byte_texts folder;
  const auto plain = folder.write("p.txt", "ab ab ab"), image = folder.write("i.txt", "ab <image>a");
  for (const auto& data : {folder.windows("ab <image> ab"), folder.records("ab<image>"),
                           open_data(text(plain, image, {.file = folder.path()}), 4)})
    CHECK_THROWS_WITH(built(*data), Contains("vocabulary is 256") && Contains("token ids up to 257 (\"<image>\")"));
}

TEST_CASE("a record is not padded by a token that no record has: the model may have no row for it") {
  const byte_texts folder;
  CHECK(read_sample(*folder.records("ab"), 0).input == ids{'a', 'b', 0, 0});
  CHECK(read_sample(*folder.records("a<pad>"), 0).input == ids{'a', 256, 256, 256});
}

TEST_CASE("of token ids those of the files count, not the vocabulary that the data name") {
  const byte_texts folder;
  const auto file = folder.write("t.ids", std::string{"\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0\5\0\0\0", 20});
  const auto data = open_data({token_files{.train = file, .vocabulary = 300}}, 4);
  CHECK(data->observed_vocabulary() == 6);
  CHECK(built(*data).notes().empty());
}

}  // namespace vocabulary_test
