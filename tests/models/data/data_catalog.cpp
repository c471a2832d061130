#include "models/data/data_catalog.hpp"

#include "runtime/base/fault.hpp"
#include "tests/support/temporary_file.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

TEST_CASE("a synthetic language is opened with its vocabulary, both splits and its floor") {
  const auto data = open_data({synthetic_language{.symbols = 16, .tokens = 1000, .validation_tokens = 100}}, 10);
  CHECK(data->classes() == 16);
  CHECK(data->samples(split::train) == 99);
  CHECK(data->samples(split::validation) == 9);
  CHECK(data->sample_input() == tensor_spec{{10}, element::i64});
  CHECK(data->floor(split::validation, 9).value().entropy < std::log(16));
}

TEST_CASE("classes are opened without a context") {
  const auto data = open_data({synthetic_classes{.features = 5, .samples = 7}}, 0);
  CHECK(data->samples(split::train) == 7);
  CHECK(data->sample_target() == tensor_spec{{}, element::i64});
  CHECK_FALSE(data->floor(split::train, 7).has_value());
}

TEST_CASE("a text is opened by the short form") {
  const temporary_file file{"hello world"};
  const auto data = open_data(text(file.path()), 5);
  CHECK(data->classes() == 256);
  CHECK(data->samples(split::train) == 2);
  CHECK(data->describe() == "text " + file.path().string());
}

TEST_CASE("tokens are opened with their vocabulary") {
  const temporary_file file{std::string_view{"\x01\0\0\0\x02\0\0\0\x03\0\0\0", 12}};
  const auto data = open_data({token_files{.train = file.path(), .validation = file.path(), .vocabulary = 4}}, 2);
  CHECK(data->classes() == 4);
  CHECK(data->samples(split::validation) == 1);
  CHECK_THROWS_WITH(open_data({token_files{.train = file.path(), .vocabulary = 3}}, 2),
                    Contains("token 3 at position 2"));
}

TEST_CASE("a user's own source is passed through, a null one is refused") {
  const auto own = open_data({synthetic_classes{}}, 0);
  CHECK(open_data({own}, 0) == own);
  CHECK_THROWS_AS(open_data({std::shared_ptr<const data_source>{}}, 0), fault_error);
}
