// Files beside a tokenizer's own. Right is what transformers (5.23) makes of them.

#include "models/tokenizers/tokenizer.hpp"
#include "runtime/base/fault.hpp"
#include "tests/models/tokenizers/made_tokenizers.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

using ids = std::vector<std::uint32_t>;
using nlohmann::json;

/// The 256 bytes, "ab" (256), and "<|endoftext|>" (257) as an added token.
struct byte_folder : temporary_folder {
  byte_folder() {
    file["added_tokens"] = {added(257, "<|endoftext|>")};
    save();
  }
  void save() const { write("tokenizer.json", file.dump()); }
  std::shared_ptr<const tokenizer> with(const json& settings) const {
    write("tokenizer_config.json", settings.dump());
    return open_tokenizer({.file = path()});
  }
  std::vector<std::string> notes(const json& settings) const { return with(settings)->notes(); }

  json file = bpe_file({"a b"});
};

}  // namespace

TEST_CASE("tokens that only the settings add are recognised, and one that they name ends a text") {
  const byte_folder folder;
  const auto t = folder.with({{"eos_token", "<|im_end|>"},
                              {"image_token", "<image>"},
                              {"additional_special_tokens", {"<|tool|>", "<|im_end|>", "ab"}},
                              {"added_tokens_decoder",
                               {{"259", {{"content", "<|im_end|>"}, {"special", true}}},
                                {"258", {{"content", "<|im_start|>"}, {"special", true}, {"rstrip", true}}},
                                {"257", {{"content", "<|endoftext|>"}, {"special", true}}}}}});
  CHECK(t->encode("<|im_start|> a<|im_end|><image><|tool|><|endoftext|>") == ids{258, 'a', 259, 260, 261, 257});
  CHECK(t->encode("aab") == ids{'a', 256});
  CHECK(t->special().end_of_text == 259u);
  CHECK(t->vocabulary() == 262);
  CHECK(t->notes().empty());
}

TEST_CASE("flags of settings replace those of a tokenizer.json, a token's entries in the three files may agree") {
  const byte_folder folder;
  folder.write("added_tokens.json", R"({"<x>": 258})");
  const auto t = folder.with({{"added_tokens_decoder",
                               {{"257", {{"content", "<|endoftext|>"}, {"special", true}, {"lstrip", true}}},
                                {"258", {{"content", "<x>"}}}}}});
  CHECK(t->encode("a <|endoftext|><x>") == ids{'a', 257, 258});
}

TEST_CASE("an id of a new token that is not the next one of the tokenizer.json is refused, with that one") {
  const byte_folder folder;
  const auto refused = [&](const json& settings, const std::string& why) {
    CHECK_THROWS_WITH(folder.with(settings), Contains("tokenizer_config.json: added_tokens_decoder." + why));
  };
  refused({{"added_tokens_decoder", {{"300", {{"content", "<x>"}}}}}},
          "300: \"<x>\" is not in tokenizer.json, and would get the id 258 there");
  refused({{"added_tokens_decoder", {{"97", {{"content", "<x>"}}}}}}, "97: \"<x>\" is not in tokenizer.json");
  refused({{"added_tokens_decoder", {{"258", {{"content", "ab"}}}}}}, "258: the id is 258, but the vocabulary has 256");
  refused({{"added_tokens_decoder", {{"258", {{"content", "<|endoftext|>"}}}}}}, "258: the token \"<|endoftext|>\"");
  refused({{"added_tokens_decoder", {{"x", {{"content", "<x>"}}}}}}, "x: is not an id");
  CHECK_THROWS_WITH(folder.with({{"eos_token", 3}}), Contains("tokenizer_config.json: eos_token: 3 is not a token"));
  CHECK_THROWS_WITH(folder.with({{"split_special_tokens", true}}),
                    Contains("split_special_tokens: true is not supported"));
}

TEST_CASE("special_tokens_map.json decides, unless tokenizer_config.json has added_tokens_decoder") {
  const byte_folder folder;
  folder.write("special_tokens_map.json", R"({"eos_token": {"content": "ab"}, "bos_token": "<|endoftext|>"})");
  const auto by_map = folder.with({{"eos_token", "<|endoftext|>"}, {"bos_token", nullptr}});
  CHECK(by_map->special().end_of_text == 256u);
  CHECK(by_map->special().begin_of_text == 257u);
  REQUIRE(by_map->notes().size() == 1);
  CHECK_THAT(by_map->notes()[0], Contains("tokenizer_config.json: Hydra does not use eos_token = \"<|endoftext|>\""));
  const auto by_config =
      folder.with({{"eos_token", "<|endoftext|>"}, {"bos_token", nullptr}, {"added_tokens_decoder", json::object()}});
  CHECK(by_config->special().end_of_text == 257u);
  CHECK_FALSE(by_config->special().begin_of_text.has_value());
  REQUIRE(by_config->notes().size() == 2);
  CHECK_THAT(by_config->notes()[0],
             Contains("special_tokens_map.json: Hydra does not use bos_token = \"<|endoftext|>\""));
  CHECK_THAT(by_config->notes()[1], Contains("Hydra does not use eos_token = "));
}

TEST_CASE("a key of special_tokens_map.json that is not known is noted") {
  const byte_folder folder;
  folder.write("special_tokens_map.json", R"({"eos_token": "ab", "colour": "red"})");
  const auto notes = folder.notes(json::object());
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes[0], Contains("special_tokens_map.json: Hydra does not use colour = \"red\""));
}

TEST_CASE("a padding token that the tokenizer does not have is noted and gets no id") {
  const byte_folder folder;
  const auto t = folder.with({{"pad_token", "[PAD]"}, {"eos_token", "<|endoftext|>"}});
  CHECK(t->vocabulary() == 258);
  CHECK_FALSE(t->special().padding.has_value());
  REQUIRE(t->notes().size() == 1);
  CHECK_THAT(t->notes()[0], Contains("tokenizer_config.json: pad_token \"[PAD]\" is not a token of the tokenizer"));
}

TEST_CASE("a tokenizer.json decides what begins and ends a text; settings that say something else are noted") {
  byte_folder folder;
  folder.file["post_processor"] = frame_of({{"<|endoftext|>", 257}}, {});
  folder.save();
  CHECK(folder.notes({{"add_bos_token", true}, {"add_eos_token", false}}).empty());
  const auto t = folder.with({{"add_bos_token", false}, {"add_eos_token", true}});
  CHECK(t->special().before == ids{257});
  CHECK(t->special().after.empty());
  REQUIRE(t->notes().size() == 2);
  CHECK_THAT(t->notes()[0], Contains("tokenizer_config.json: Hydra does not use add_bos_token = false: "));
  CHECK_THAT(t->notes()[1], Contains("add_eos_token = true"));
}

TEST_CASE("without a tokenizer.json the settings say what begins and ends a text, of a WordPiece [CLS] and [SEP] do") {
  const temporary_folder folder;
  folder.write("vocab.json", R"({"a": 0, "<|endoftext|>": 1, "<s>": 2})");
  folder.write("merges.txt", "");
  const auto special = [&](const std::string& settings) {
    folder.write("tokenizer_config.json", settings);
    return open_tokenizer({.file = folder.path()})->special();
  };
  CHECK(special("{}").before.empty());
  CHECK(special(R"({"bos_token": "<s>", "add_bos_token": true})").before == ids{2});
  CHECK(special(R"({"eos_token": "<|endoftext|>", "add_eos_token": true})").after == ids{1});
  const temporary_folder bert;
  bert.write("vocab.txt", "[UNK]\n[CLS]\n[SEP]\n");
  CHECK(open_tokenizer({.file = bert.path()})->special().before == ids{1});
  CHECK(open_tokenizer({.file = bert.path()})->special().after == ids{2});
}

TEST_CASE("settings that contradict a tokenizer.json's letters and blanks are noted, those that agree are not") {
  byte_folder folder;
  CHECK(folder.notes({{"add_prefix_space", false}, {"do_lower_case", false}, {"strip_accents", nullptr}}).empty());
  CHECK_THAT(folder.notes({{"add_prefix_space", true}}).at(0), Contains("Hydra does not use add_prefix_space = true"));
  CHECK_THAT(folder.notes({{"do_lower_case", true}}).at(0), Contains("normalizer keeps capital letters"));
  folder.file = wordpiece_file({"[UNK]", "a"});
  folder.save();
  CHECK(folder.notes({{"do_lower_case", true}, {"strip_accents", true}, {"tokenize_chinese_chars", true}}).empty());
  CHECK(folder.notes({{"do_lower_case", false}, {"strip_accents", false}, {"tokenize_chinese_chars", false}}).size() ==
        3);
  folder.file = piece_bpe_file({"<unk>", "a"}, {});
  folder.save();
  CHECK(folder.notes({{"add_prefix_space", true}, {"legacy", false}}).empty());
}

TEST_CASE("keys of settings without an effect are not noted, others are, with their values") {
  byte_folder folder;
  CHECK(folder
            .notes({{"model_max_length", 1024},
                    {"chat_template", "{{ x }}"},
                    {"clean_up_tokenization_spaces", true},
                    {"padding_side", "left"},
                    {"legacy", true},
                    {"bos_token", "<|endoftext|>"}})
            .empty());
  const json code{{"AutoTokenizer", {"a.B", nullptr}}}, sampling{{"enable_sampling", true}};
  CHECK(folder.notes({{"auto_map", code}, {"sp_model_kwargs", sampling}}).size() == 2);
  folder.file["other"] = 1;
  folder.file["pre_tokenizer"]["color"] = "red";
  folder.save();
  const auto notes = folder.notes(json::object());
  REQUIRE(notes.size() == 2);
  CHECK_THAT(notes[0], Contains("tokenizer.json: Hydra does not use other = 1"));
  CHECK_THAT(notes[1], Contains("tokenizer.json: Hydra does not use pre_tokenizer.color"));
}

TEST_CASE("keys of entries of added tokens that are not known are noted, whichever file has them") {
  byte_folder folder;
  folder.file["added_tokens"][0]["colour"] = 1;
  folder.save();
  folder.write("special_tokens_map.json", R"({"eos_token": {"content": "<|endoftext|>", "size": 2}})");
  const auto notes = folder.notes(json::object());
  REQUIRE(notes.size() == 2);
  CHECK_THAT(notes[0], Contains("tokenizer.json: Hydra does not use added_tokens[0].colour"));
  CHECK_THAT(notes[1], Contains("special_tokens_map.json: Hydra does not use eos_token.size"));
  const json token{{"content", "<|endoftext|>"}, {"special", true}, {"__type", "AddedToken"}, {"depth", 3}};
  const auto by_id = folder.notes({{"added_tokens_decoder", {{"257", token}}}, {"additional_special_tokens", {token}}});
  CHECK_THAT(by_id.at(1), Contains("tokenizer_config.json: Hydra does not use added_tokens_decoder.257.depth"));
  CHECK_THAT(by_id.at(2), Contains("tokenizer_config.json: Hydra does not use additional_special_tokens.depth"));
}
