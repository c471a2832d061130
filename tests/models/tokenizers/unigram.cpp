#include "tests/models/tokenizers/made_tokenizers.hpp"

#include "models/tokenizers/tokenizer.hpp"
#include "tests/support/temporary_file.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;
using ids = std::vector<std::uint32_t>;

namespace {

const std::vector<std::pair<std::string, double>> tokens{{"<unk>", 0}, {"\u2581", -2}, {"a", -3},       {"b", -3},
                                                         {"ab", -5},   {"ba", -4},     {"\u2581a", -4}, {"<0x78>", -9}};

std::shared_ptr<const tokenizer> changed(const char* patch) {
  auto file = unigram_file(tokens);
  file.merge_patch(nlohmann::json::parse(patch));
  const temporary_file on_disk{file.dump()};
  return open_tokenizer({.file = on_disk.path()});
}

}  // namespace

TEST_CASE("the tokens of a word have the largest sum of scores, of equal ones the first found") {
  const auto t = changed("{}");
  CHECK(t->encode("ab") == ids{1, 4});   // -7, as has the first token with b
  CHECK(t->encode("aba") == ids{6, 5});  // -8, before -10
  CHECK(t->encode(" a \n b ") == ids{6, 1, 3});
  CHECK(t->encode("").empty());
  CHECK(t->decode(ids{6, 5, 1, 3}) == "aba b");
}

TEST_CASE("a run of unknown characters is one token, or its bytes, or refused") {
  CHECK(changed("{}")->encode("axxa") == ids{6, 0, 2});
  CHECK(changed("{}")->encode("a<unk>xa") == ids{6, 0, 2});  // the unknown token in a text joins the run
  const auto bytes = changed(R"({"model": {"byte_fallback": true}})");
  CHECK(bytes->encode("axxa") == ids{6, 7, 7, 2});
  CHECK(bytes->encode("axya") == ids{6, 0, 2});  // y has no token of a byte
  CHECK(bytes->encode("a<unk>") == ids{6, 0});
  CHECK_THROWS_WITH(changed(R"({"model": {"unk_id": null}})")->encode("ax"), Catch::Contains("\"x\" of the text"));
}

TEST_CASE("an invalid Unigram model is refused with its key") {
  const auto refused = [](const char* patch, const char* why) {
    CHECK_THROWS_WITH(changed(patch), Catch::Contains(why));
  };
  refused(R"({"model": {"vocab": []}})", ": model.vocab: is not a list of tokens");
  refused(R"({"model": {"vocab": [["a", 0], ["b"]]}})", ": model.vocab[1]: is not a token with its score");
  refused(R"({"model": {"vocab": [["a", 0], ["a", 1]]}})", ": model.vocab[1]: the token has the id 0");
  refused(R"({"model": {"unk_id": 8}})", ": model.unk_id: 8 is not an id");
  refused(R"({"pre_tokenizer": {"type": "ByteLevel"}})", ": pre_tokenizer.type: \"ByteLevel\"");
  refused(R"({"decoder": {"type": "WordPiece"}})", ": decoder.type: \"WordPiece\"");
}
