#include "partition/profile/layer_name.hpp"

#include <catch2/catch.hpp>

using namespace hydra;

TEST_CASE("the name of a layer is what stands before its first option") {
  CHECK(layer_name("llama block width=64 heads=2 scaling=none 1 1 4 0") == "llama block");
  CHECK(layer_name("exported 12ab") == "exported 12ab");
  CHECK(layer_name("width=64").empty());
  CHECK(layer_name("").empty());
}
