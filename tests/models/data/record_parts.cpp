#include "models/data/record_parts.hpp"

#include "models/data/data_catalog.hpp"
#include "runtime/base/fault.hpp"
#include "tests/models/data/given_records.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <iterator>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

records_ptr numbered(std::size_t begin, std::size_t end) {
  std::vector<text_record> all;
  for (std::size_t i = begin; i < end; ++i) all.push_back({.text = std::to_string(i)});
  return std::make_shared<given_records>(std::move(all));
}

std::vector<std::size_t> numbers(const record_list& records) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < records.size(); ++i) all.push_back(std::stoul(records.record(i).text));
  return all;
}

}  // namespace

TEST_CASE("several lists are one after the other") {
  const records_ptr all = joined_records({numbered(0, 3), numbered(3, 4), numbered(4, 9)});
  CHECK(numbers(*all) == std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(joined_records({}) == nullptr);
  const records_ptr one = numbered(0, 2);
  CHECK(joined_records({one}) == one);
}

TEST_CASE("each record is either for training or for validation, in the order of the file") {
  const record_split parts = split_records(numbered(0, 100), 0.2, 7);
  const auto train = numbers(*parts.train), validation = numbers(*parts.validation);
  CHECK(validation.size() == 20);
  CHECK(std::ranges::is_sorted(train));
  CHECK(std::ranges::is_sorted(validation));
  std::vector<std::size_t> all;
  std::ranges::merge(train, validation, std::back_inserter(all));
  CHECK(all == numbers(*numbered(0, 100)));
  CHECK(numbers(*split_records(numbered(0, 100), 0.2, 7).validation) == validation);
  CHECK(numbers(*split_records(numbered(0, 100), 0.2, 8).validation) != validation);
  CHECK(parts.train->identity() != parts.validation->identity());
}

TEST_CASE("at least one record is for each part") {
  CHECK(split_records(numbered(0, 3), 0.001, 0).validation->size() == 1);
  CHECK(split_records(numbered(0, 3), 0.999, 0).train->size() == 1);
  CHECK_THROWS_WITH(split_records(numbered(0, 1), 0.5, 0), Contains("needs two records or more"));
}

TEST_CASE("errors in one of several files name it and its line") {
  const temporary_folder folder;
  const auto good = folder.write("a.jsonl", "{\"text\": \"a\"}\n"),
             bad = folder.write("b.jsonl", "{\"text\": \"a\"}\n{}\n");
  const auto open = [&](jsonl_files files) { return open_data(jsonl(std::move(files)), 4); };
  CHECK(open({.train = std::vector{good, good}})->samples(split::train) == 2);
  CHECK_THROWS_WITH(open({.train = std::vector{good, bad}}), Contains("b.jsonl:2:"));
  CHECK(open({.train = std::vector{good, good}, .validation_share = 0.5})->samples(split::validation) == 1);
  CHECK_THROWS_WITH(open({.train = good, .validation = good, .validation_share = 0.5}), Contains("validation_share"));
}
