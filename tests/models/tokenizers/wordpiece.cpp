#include "tests/models/tokenizers/made_tokenizers.hpp"

#include "models/tokenizers/tokenizer.hpp"
#include "tests/support/temporary_file.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;

namespace wordpiece_test {

using ids = std::vector<std::uint32_t>;

const std::vector<std::string> tokens{"[UNK]", "[CLS]",  "un",  "##aff", "##able", "!",
                                      "cafe",  "\u4e2d", "##a", "a",     "'",      "s"};

std::shared_ptr<const tokenizer> opened(const nlohmann::json& file) {
  const temporary_file on_disk{file.dump()};
  return open_tokenizer({.file = on_disk.path()});
}

TEST_CASE("words are split from the left into the longest pieces, or are unknown as a whole") {
  const auto t = opened(wordpiece_file(tokens));
  CHECK(t->encode("unaffable") == ids{2, 3, 4});
  CHECK(t->encode("unaffable! unx") == ids{2, 3, 4, 5, 0});
  CHECK(t->encode("##aff") == ids{0, 0, 0});  // two punctuation marks and a word that has no first piece
}

TEST_CASE("BERT's normaliser drops control characters and accents, separates ideographs and lowercases") {
  const auto t = opened(wordpiece_file(tokens));
  CHECK(t->encode("CAF\u00c9") == ids{6});
  CHECK(t->encode("ca\u200bf\u0001e\u0301") == ids{6});
  CHECK(t->encode("a\u4e2da") == ids{9, 7, 9});
  CHECK(t->encode("a\u00a0a\u3000\ta") == ids{9, 9, 9});
  auto cased = wordpiece_file(tokens);
  cased["normalizer"]["lowercase"] = false;
  CHECK(opened(cased)->encode("caf\u00e9 Cafe cafe") == ids{0, 0, 6});
}

TEST_CASE("a word of more than a hundred characters is unknown") {
  const auto t = opened(wordpiece_file(tokens));
  CHECK(t->encode(std::string(100, 'a')).size() == 100);
  CHECK(t->encode(std::string(101, 'a')) == ids{0});
}

TEST_CASE("decoding joins pieces and removes blanks before punctuation") {
  const auto t = opened(wordpiece_file(tokens));
  CHECK(t->decode(ids{2, 3, 4, 5, 9}) == "unaffable! a");
  CHECK(t->decode(ids{3, 4}) == "##affable");
}

TEST_CASE("a vocab.txt is a lower-case BERT whose special tokens are recognised") {
  const temporary_file vocab{"[UNK]\n[CLS]\r\nun \n##aff\n"};
  const auto t = open_tokenizer({.vocab = vocab.path()});
  CHECK(t->encode("[CLS]UNaff [cls]") == ids{1, 2, 3, 0, 0, 0});
  CHECK(t->special().classify == 1u);
  CHECK(t->special().unknown == 0u);
}

}  // namespace wordpiece_test
