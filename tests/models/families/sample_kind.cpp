#include "models/families/sample_kind.hpp"

#include "models/data/data_catalog.hpp"
#include "models/families/bert/bert.hpp"
#include "models/families/llama/llama.hpp"
#include "models/families/vit/vit.hpp"
#include "runtime/base/fault.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

TEST_CASE("a model on samples of another kind says what it takes, what the data are and what to write") {
  const auto images = open_data({synthetic_classes{.shape = {3, 8, 8}}}, 0), rows = open_data({synthetic_classes{}}, 0);
  for (const chain_description& d : {llama({.layers = 1, .width = 8, .heads = 2, .hidden = 8, .context = 4}),
                                     bert({.layers = 1, .width = 8, .heads = 2, .hidden = 8, .context = 4})})
    CHECK_THROWS_WITH(d.build(*images),
                      Contains("the model takes texts, the samples of the data are images, f32[3, 8, 8]") &&
                          Contains("data = \"NAME\" of data of kind \"text\"") && Contains("for images: \"vit\""));
  CHECK_THROWS_WITH(vit({.layers = 1, .width = 8, .heads = 2, .patch = 4}).build(*rows),
                    Contains("the model takes images, the samples of the data are rows of numbers, f32[32]") &&
                        Contains("kind \"images\" or \"cifar\"") && Contains("for rows of numbers: \"mlp\""));
}

TEST_CASE("texts for a model without a context are refused with what to write") {
  const temporary_folder folder;
  const std::int64_t context = vit({.layers = 1, .width = 8, .heads = 2, .patch = 4}).context;
  for (const data_description& data : {text(folder.write("a.txt", "abcd")),
                                       jsonl({.train = folder.write("a.jsonl", "{\"text\": \"a\"}\n")})})
    CHECK_THROWS_WITH(open_data(data, context),
                      Contains("the data are texts, and the model takes images or rows of numbers") &&
                          Contains("data = \"NAME\" of data of kind \"images\"") && Contains("for texts: \"gpt2\""));
}
