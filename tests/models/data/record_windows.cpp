#include "models/data/record_windows.hpp"

#include "models/losses/class_targets.hpp"
#include "tests/conformance/data.hpp"
#include "tests/models/data/given_records.hpp"
#include "tests/models/data/letter_tokenizer.hpp"
#include "tests/models/data/read_sample.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace record_windows_test {

using ids = std::vector<std::int64_t>;

record_tokens tokens_of(const std::vector<text_record>& records, const record_encoding& encoding) {
  std::vector<std::uint32_t> all;
  for (const text_record& r : records)
    encoding.encode(r, [&](std::span<const record_word> words) {
      all.push_back(static_cast<std::uint32_t>(words.size()));
      all.insert(all.end(), words.begin(), words.end());
    });
  return record_tokens{token_list{std::move(all)}};
}

struct how {
  std::shared_ptr<const tokenizer> by = std::make_shared<letter_tokenizer>();
  bool packed = false;
  std::uint64_t seed = 0;
};

record_windows windows_of(const std::vector<text_record>& records, std::int64_t context, const how& h = {}) {
  const record_encoding encoding = prompt_encoding(h.by, static_cast<std::size_t>(context), h.packed);
  return record_windows{{.name = "records",
                         .train = tokens_of(records, encoding),
                         .vocabulary = h.by->vocabulary(),
                         .context = context,
                         .packed = h.packed,
                         .seed = h.seed}};
}

constexpr std::int64_t no = masked_target, begin = letter_tokenizer::classify, end = letter_tokenizer::end,
                       pad = letter_tokenizer::padding;

/// "abc" -> ids, '^' -> [CLS], '.' -> the end of the text, '_' -> padding, '-' -> no target.
ids spell(std::string_view text) {
  ids all;
  for (const char c : text)
    all.push_back(c == '^' ? begin : c == '.' ? end : c == '_' ? pad : c == '-' ? no : letters({&c, 1})[0]);
  return all;
}

std::shared_ptr<const tokenizer> framed(std::vector<std::uint32_t> after = {}) {
  return std::make_shared<letter_tokenizer>(letter_tokenizer::framed({letter_tokenizer::classify}, std::move(after)));
}

/// Joins two equal letters, "aa" -> 'A', and writes a blank before a text.
class joining_words final : public letter_tokenizer {
 public:
  using tokenizer::encode;
  void encode(std::string_view text, std::vector<std::uint32_t>& to) const override {
    to.push_back(first_byte + ' ');
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool twice = i + 1 < text.size() && text[i] == text[i + 1];
      to.push_back(first_byte + static_cast<unsigned char>(twice ? text[i++] - 'a' + 'A' : text[i]));
    }
  }
};

/// The targets of a model that predicts a token from those before it in its record, by what precedes each: what a
/// sample trains, whichever window it is in.
std::multiset<std::pair<ids, std::int64_t>> trained(const data_source& data) {
  std::multiset<std::pair<ids, std::int64_t>> all;
  const bool packed = data.sample_input().shape.size() == 2;
  for (std::size_t w = 0; w < data.samples(split::train); ++w) {
    const auto s = read_sample(data, w);
    const std::size_t context = s.target.size();
    ids before;
    for (std::size_t i = 0; i < context; ++i) {
      if (packed && s.input[context + i] == 1) before.clear();
      before.push_back(s.input[i]);
      if (s.target[i] != no) all.emplace(before, s.target[i]);
    }
  }
  return all;
}

std::vector<text_record> many_records() {
  std::vector<text_record> all;
  for (std::size_t i = 0; i < 200; ++i) {
    const auto letter = [&](std::size_t n) {
      return std::string(n, static_cast<char>('a' + i % 26)) + std::to_string(i);
    };
    all.push_back({.prompt = i % 3 == 0 ? "" : letter(i * 7 % 11), .text = letter(1 + i * 5 % 13)});
  }
  return all;
}

TEST_CASE("a text ends with its token, is padded on the right, and padding has no targets") {
  const auto data = windows_of({{.text = "abc"}}, 6);
  conforms(data);
  CHECK(data.sample_input() == tensor_spec{{6}, element::i64});
  CHECK(data.classes() == 261);
  const auto s = read_sample(data, 0);
  CHECK(s.input == spell("abc.__"));
  CHECK(s.target == spell("bc.---"));
  CHECK(s.counted == 3);
}

TEST_CASE("a text longer than the context loses its end") {
  const auto s = read_sample(windows_of({{.text = "abcdefgh"}}, 4), 0);
  CHECK(s.input == spell("abcd"));
  CHECK(s.target == spell("bcde"));
  CHECK(s.counted == 4);
}

TEST_CASE("a text of the context's length ends with a target") {
  const auto s = read_sample(windows_of({{.text = "abcd"}}, 4), 0);
  CHECK(s.input == spell("abcd"));
  CHECK(s.target == spell("bcd."));
}

TEST_CASE("the loss is on the answer alone, including its end") {
  const auto s = read_sample(windows_of({{.prompt = "why", .text = "so"}}, 8), 0);
  CHECK(s.input == spell("whyso.__"));
  CHECK(s.target == spell("--so.---"));
  CHECK(s.counted == 3);
}

TEST_CASE("a long record loses the start of its prompt, down to half of the window, then the end of its answer") {
  const auto prompt_first = read_sample(windows_of({{.prompt = "0123456789", .text = "ab"}}, 7), 0);
  CHECK(prompt_first.input == spell("56789ab"));
  CHECK(prompt_first.target == spell("----ab."));
  const auto both = read_sample(windows_of({{.prompt = "0123456789", .text = "abcdefgh"}}, 7), 0);
  CHECK(both.input == spell("6789abc"));
  CHECK(both.target == spell("---abcd"));
  const auto answer_only = read_sample(windows_of({{.prompt = "0", .text = "abcdefgh"}}, 5), 0);
  CHECK(answer_only.input == spell("0abcd"));
  CHECK(answer_only.target == spell("abcde"));
}

TEST_CASE("a record is between the tokens that the tokenizer puts around a text, and the end of a text is there once") {
  const auto plain = read_sample(windows_of({{.text = "abc"}}, 6, {.by = framed()}), 0);
  CHECK(plain.input == spell("^abc._"));
  CHECK(plain.target == spell("abc.--"));
  const auto asked = read_sample(windows_of({{.prompt = "why", .text = "so"}}, 8, {.by = framed()}), 0);
  CHECK(asked.input == spell("^whyso._"));
  CHECK(asked.target == spell("---so.--"));
  const auto ended = read_sample(windows_of({{.text = "ab"}}, 5, {.by = framed({letter_tokenizer::end})}), 0);
  CHECK(ended.input == spell("^ab._"));
  CHECK(ended.target == spell("ab.--"));
}

TEST_CASE("a long record keeps what begins a text; the later parts of a packed text do not begin with it") {
  const auto s = read_sample(windows_of({{.prompt = "0123456789", .text = "ab"}}, 7, {.by = framed()}), 0);
  CHECK(s.input == spell("^6789ab"));
  CHECK(s.target == spell("----ab."));
  const auto all = windows_of({{.text = "abcdefgh"}}, 5, {.by = framed(), .packed = true});
  std::multiset<ids> inputs;
  for (std::size_t i = 0; i < all.samples(split::train); ++i) {
    const auto input = read_sample(all, i).input;
    inputs.emplace(input.begin(), input.begin() + 5);
  }
  CHECK(inputs == std::multiset<ids>{spell("^abcd"), spell("efgh_")});
}

TEST_CASE("prompt and answer are tokenised as a whole: no blank before the answer, and a token of both has a loss") {
  const how h{.by = std::make_shared<joining_words>()};
  const auto s = read_sample(windows_of({{.prompt = "why", .text = "so"}}, 8, h), 0);
  CHECK(s.input == spell(" whyso._"));
  CHECK(s.target == spell("---so.--"));
  const auto joined = read_sample(windows_of({{.prompt = "was", .text = "so"}}, 6, h), 0);
  CHECK(joined.input == spell(" waSo."));
  CHECK(joined.target == spell("--So.-"));
}

TEST_CASE("a tokenizer without end-of-text or padding tokens adds none, and pads with 0") {
  const auto plain = std::make_shared<letter_tokenizer>(letter_tokenizer::plain());
  const auto s = read_sample(windows_of({{.text = "ab"}}, 4, {.by = plain}), 0);
  CHECK(s.input == spell("ab__"));
  CHECK(s.target == spell("b---"));
  CHECK(s.counted == 1);
}

TEST_CASE("a packed sample has records one after the other, marked where each starts; padding is one more") {
  const auto data = windows_of({{.text = "abc"}, {.prompt = "why", .text = "so"}}, 11, {.packed = true});
  REQUIRE(data.samples(split::train) == 1);
  CHECK(data.sample_input() == tensor_spec{{2, 11}, element::i64});
  const auto s = read_sample(data, 0);
  const bool text_first = s.input[0] == spell("a")[0];
  CHECK(ids(s.input.begin(), s.input.begin() + 11) == spell(text_first ? "abcwhyso___" : "whysoabc___"));
  CHECK(s.target == spell(text_first ? "bc.--so.---" : "--so.bc.---"));
  CHECK(ids(s.input.begin() + 11, s.input.end()) ==
        (text_first ? ids{1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0} : ids{1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0}));
  CHECK(s.counted == 6);
}

TEST_CASE("packed records train the same targets after the same tokens as records alone") {
  const auto records = many_records();
  const auto alone = windows_of(records, 40), packed = windows_of(records, 40, {.packed = true});
  CHECK((trained(packed) == trained(alone)));
  CHECK(packed.samples(split::train) * 2 < alone.samples(split::train));
  const auto other = windows_of(records, 40, {.packed = true, .seed = 1});
  CHECK(read_sample(other, 0).input != read_sample(packed, 0).input);
  CHECK((trained(other) == trained(alone)));
}

TEST_CASE("a packed text that is longer than a sample becomes several records and loses nothing") {
  const auto data = windows_of({{.text = "abcdefgh"}}, 3, {.packed = true});
  REQUIRE(data.samples(split::train) == 3);
  std::vector<ids> targets;
  for (std::size_t i = 0; i < 3; ++i) targets.push_back(read_sample(data, i).target);
  std::ranges::sort(targets);
  CHECK(targets == std::vector<ids>{spell("bcd"), spell("efg"), spell("h.-")});
}

TEST_CASE("records need a context") {
  CHECK_THROWS_WITH(windows_of({{.text = "a"}}, 0), Contains("records needs a model with a context"));
}

TEST_CASE("windows know how many of their places are tokens, and which records lost some") {
  const std::vector<text_record> records{{.text = "abcdefghij"}, {.text = "kl"}, {.text = "m"}};
  const record_windows alone = windows_of(records, 5);
  CHECK(alone.tokens_of(split::train, 0) == 5);
  CHECK(alone.tokens_of(split::train, 1) == 2);  // targets: the second letter and the end of the text
  CHECK(alone.census(split::train)->records == 3);
  CHECK(alone.census(split::train)->shortened == 1);
  REQUIRE(alone.notes().size() == 1);
  CHECK_THAT(alone.notes()[0], Contains("records: 1 of 3 training records have more than 5 tokens and are shortened"));
  const record_windows packed = windows_of(records, 5, {.packed = true});
  std::size_t tokens = 0;
  for (std::size_t i = 0; i < packed.samples(split::train); ++i) tokens += packed.tokens_of(split::train, i);
  CHECK(tokens == 10 + 2 + 1);
  CHECK(packed.census(split::train)->shortened == 0);
  CHECK(packed.notes().empty());
  CHECK(packed.census(split::validation)->records == 0);
}

}  // namespace record_windows_test
