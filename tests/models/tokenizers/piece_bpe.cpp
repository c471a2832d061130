#include "tests/models/tokenizers/made_tokenizers.hpp"

#include "models/tokenizers/tokenizer.hpp"
#include "tests/support/temporary_file.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;

namespace piece_bpe_test {

using ids = std::vector<std::uint32_t>;

/// ▁ is U+2581; the bytes are those of é and two more.
const std::vector<std::string> tokens{"?",   "\u2581",       "a",      "b",      "ab",    "\u2581ab",
                                      "b\n", "\u2581\u2581", "<0xC3>", "<0xA9>", "<0x0A>"};
const std::vector<std::string> merges{"\u2581 \u2581", "a b", "\u2581 ab"};

std::shared_ptr<const tokenizer> opened(const nlohmann::json& file) {
  const temporary_file on_disk{file.dump()};
  return open_tokenizer({.file = on_disk.path()});
}

std::shared_ptr<const tokenizer> changed(const char* patch) {
  auto file = piece_bpe_file(tokens, merges);
  file.merge_patch(nlohmann::json::parse(patch));
  return opened(file);
}

TEST_CASE("characters are merged by rank, with a written blank before the text") {
  const auto t = changed("{}");
  CHECK(t->encode("ab") == ids{5});
  CHECK(t->encode("ab ab b") == ids{5, 5, 1, 3});
  CHECK(t->encode("  ab") == ids{7, 5});  // the prefix and a blank are merged first
  CHECK(t->encode("").empty());
  CHECK(t->decode(ids{5, 5, 1, 3}) == "ab ab b");
}

TEST_CASE("characters without a token are bytes, or unknown, or refused") {
  const auto bytes = changed(R"({"model": {"byte_fallback": true}})");
  CHECK(bytes->encode("\u00e9a") == ids{1, 8, 9, 2});
  CHECK(bytes->encode("xxa") == ids{1, 0, 2});             // these have no tokens of bytes either
  CHECK(bytes->encode("x\u00e9a") == ids{1, 8, 9, 0, 2});  // as in the package: bytes get before what is unknown
  CHECK(bytes->decode(ids{1, 8, 9, 2}) == "\u00e9a");
  CHECK(bytes->decode(ids{2, 8, 8, 2}) == "a\uFFFD\uFFFDa");
  CHECK(changed("{}")->encode("xxaxx") == ids{1, 0, 2, 0});
  CHECK(changed(R"({"model": {"fuse_unk": false}})")->encode("xxa") == ids{1, 0, 0, 2});
  CHECK_THROWS_WITH(changed(R"({"model": {"unk_token": null}})")->encode("ax"), Catch::Contains("\"x\" of the text"));
}

TEST_CASE("a text of one word is cut only where no token has both characters") {
  std::string text;
  ids expected;
  for (int i = 0; i < 1000; ++i) {
    text += "ab\u2581ab";
    expected.insert(expected.end(), {i == 0 ? 5u : 4u, 5u});
  }
  CHECK(changed("{}")->encode(text) == expected);
}

TEST_CASE("Metaspace writes the blanks of every piece, of the first, or of none") {
  const char* const added = R"("added_tokens": [{"id": 20, "content": "<x>", "special": true}])";
  const auto encoded = [&](const std::string& scheme, const char* text) {
    const std::string words = R"({"type": "Metaspace", "prepend_scheme": ")" + scheme + R"("})";
    return changed(("{" + std::string{added} + R"(, "normalizer": null, "pre_tokenizer": )" + words + "}").c_str())
        ->encode(text);
  };
  CHECK(encoded("always", "ab<x>ab") == ids{5, 20, 5});
  CHECK(encoded("first", "ab<x>ab") == ids{5, 20, 4});
  CHECK(encoded("first", "<x>ab") == ids{20, 4});
  CHECK(encoded("never", "ab ab") == ids{4, 5});
  CHECK(encoded("always", " ab  ab") == ids{5, 1, 5});  // split before each blank: two are not merged
}

TEST_CASE("a Metaspace that contradicts itself, or whose first piece cannot be known, is refused") {
  const auto refused = [](const char* patch, const char* why) {
    CHECK_THROWS_WITH(changed(patch), Catch::Contains(why));
  };
  refused(R"({"pre_tokenizer": {"type": "Metaspace", "add_prefix_space": false}})", "pre_tokenizer.add_prefix_space");
  refused(R"({"pre_tokenizer": {"type": "Metaspace", "prepend_scheme": "last"}})", "pre_tokenizer.prepend_scheme");
  refused(R"({"pre_tokenizer": {"type": "Metaspace", "replacement": "ab"}})", "pre_tokenizer.replacement");
  refused(R"({"pre_tokenizer": {"type": "Metaspace", "prepend_scheme": "first"}, "normalizer": {"type": "Strip"}})",
          "normalizer.type: \"Strip\"");
  refused(R"({"decoder": {"type": "Strip", "content": "ab"}})", "decoder.content");
  refused(R"({"decoder": {"type": "Strip", "content": "a", "start": -1}})", "decoder.start");
}

TEST_CASE("without a decoder tokens are joined by blanks, with Metaspace the blanks are those of the text") {
  CHECK(changed(R"({"decoder": null})")->decode(ids{5, 2}) == "\u2581ab a");
  CHECK(changed(R"({"decoder": {"type": "Metaspace"}})")->decode(ids{5, 5}) == "ab ab");
  CHECK(changed(R"({"decoder": {"type": "Metaspace", "prepend_scheme": "never"}})")->decode(ids{5, 5}) == " ab ab");
}

}  // namespace piece_bpe_test
