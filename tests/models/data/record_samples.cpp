#include "models/data/record_samples.hpp"

#include "models/losses/class_targets.hpp"
#include "tests/conformance/data.hpp"
#include "tests/models/data/given_records.hpp"
#include "tests/models/data/letter_tokenizer.hpp"
#include "tests/models/data/read_sample.hpp"

#include <catch2/catch.hpp>

#include <numeric>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace record_samples_test {

record_samples_options options(std::vector<text_record> records, std::int64_t context, sample_form form) {
  return {.name = "records",
          .train = std::make_shared<given_records>(std::move(records)),
          .by = std::make_shared<letter_tokenizer>(),
          .wants = {.context = context, .form = form}};
}

using ids = std::vector<std::int64_t>;
constexpr std::int64_t no = masked_target;

TEST_CASE("a labelled sample is [CLS] text [SEP] and its class") {
  auto o = options({{.text = "ab", .label = std::string{"x"}}, {.text = "abcdefgh", .label = std::string{"y"}}}, 6,
                   sample_form::labelled);
  o.classes = {{}, o.train->labels()};
  const record_samples data{std::move(o)};
  conforms(data);
  CHECK(data.sample_input() == tensor_spec{{3, 6}, element::i64});
  CHECK(data.sample_target() == tensor_spec{{}, element::i64});
  CHECK(data.classes() == 2);
  const auto a = letters("a")[0], b = letters("b")[0];
  CHECK(read_sample(data, 0).input == ids{1, a, b, 2, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0});
  CHECK(read_sample(data, 0).target == ids{0});
  const auto cut = read_sample(data, 1);
  CHECK(ids(cut.input.begin(), cut.input.begin() + 6) == ids{1, a, b, b + 1, b + 2, 2});
  CHECK(cut.target == ids{1});
  CHECK(cut.counted == 1);
}

TEST_CASE("how many records lose their end is noted, of many by the first ones") {
  const auto notes_of = [](std::size_t records) {
    std::vector<text_record> all(records, {.text = "abcd"});
    all[0].text = all.back().text = "abcdefghijklmnopqrst";
    return record_samples{options(std::move(all), 6, sample_form::masked)}.notes();
  };
  CHECK(notes_of(3) ==
        std::vector<std::string>{"records: 2 of 3 training records have more than 4 tokens and lose their end"});
  CHECK(notes_of(1001) ==
        std::vector<std::string>{
            "records: 1 of the first 1000 training records have more than 4 tokens and lose their end"});
}

TEST_CASE("a record may be masked") {
  const record_samples data{options({{.text = "abcdefghijklmnopqrst"}}, 30, sample_form::masked)};
  const auto s = read_sample(data, 0);
  CHECK(s.counted == 3);
  CHECK(std::ranges::count(s.target, no) == 27);
  CHECK(std::accumulate(s.input.end() - 30, s.input.end(), std::int64_t{0}) == 22);
}

TEST_CASE("records without labels or the special tokens are refused if they are needed") {
  CHECK_THROWS_WITH(record_samples{options({{.text = "a"}}, 6, sample_form::labelled)},
                    Contains("records is read without labels"));
  auto plain = options({{.text = "a"}}, 6, sample_form::labelled);
  plain.by = std::make_shared<letter_tokenizer>(letter_tokenizer::plain());
  CHECK_THROWS_WITH(record_samples{std::move(plain)},
                    Contains("labelled samples") && Contains("has no [CLS], [SEP], [PAD]"));
}

}  // namespace record_samples_test
