#include "apps/commands/layer_kinds.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

namespace hydra::apps {

namespace {

using short_names = std::vector<std::string>;

short_names of_signatures(const std::vector<std::string>& signatures) {
  std::vector<layer_profile> layers;
  for (const std::string& s : signatures) layers.emplace_back().kind = s;
  return short_kinds(layers);
}

}  // namespace

TEST_CASE("kinds of layers have those options that tell layers of a name apart, and no others") {
  CHECK(of_signatures({"token embedding width=8", "llama block width=8 window=0", "llama block width=8 window=0",
                       "head width=8"}) == short_names{"token embedding", "llama block", "llama block", "head"});
  CHECK(of_signatures({"llama block width=8 window=4 act=silu", "llama block width=8 window=0 act=silu"}) ==
        short_names{"llama block window=4", "llama block window=0"});
  CHECK(of_signatures({"block width=8 scaling=none 1 4", "block width=8 scaling=linear 8 4"}) ==
        short_names{"block scaling=none 1 4", "block scaling=linear 8 4"});
  CHECK(of_signatures(
            {"block scaling=linear 8 4 factors= 1 act=silu", "block scaling=linear 8 4 factors=2,3 1 act=silu"}) ==
        short_names{"block factors= 1", "block factors=2,3 1"});
  CHECK(of_signatures({"block width=8 frozen nf4", "block width=8 lora rank=2 frozen nf4", "exported 12ab"}) ==
        short_names{"block", "block lora rank=2", "exported 12ab"});
}

TEST_CASE("of many options that differ a table has those for which there is room") {
  const std::string far = "block theta=1000000 window=4096 rotated=64 factors=1.5,1.25 1";
  CHECK(of_signatures({far, "block theta=10000 window=0 rotated=16 factors= 1"}) ==
        short_names{"block theta=1000000 window=4096 ...", "block theta=10000 window=0 rotated=16 ..."});
}

}  // namespace hydra::apps
