#include "runtime/memory/block_copy.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/device/device_block.hpp"
#include "tests/support/tensors.hpp"

#include <catch2/catch.hpp>

#include <memory>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;
using Catch::Contains;

TEST_CASE("no copy exceeds its block on the host, in either direction") {
  const auto arena = make_host_arena(1_MiB);
  const auto home = arena->allocate(16_B, "a block");
  const auto block = std::make_shared<device_block>();
  CHECK_THROWS_WITH(copy_in(home, 17_B, block, "cpu")(), Contains("17 B") && Contains("16 B"));
  CHECK_FALSE(block->tensor.defined());
  block->tensor = tensor_of(20_B);
  CHECK_THROWS_WITH(copy_over(home, block)(), Contains("20 B"));
  CHECK_THROWS_WITH(copy_out(block, home)(), Contains("20 B"));
  copy_in(home, 16_B, block, "cpu")();
  CHECK(block->tensor.nbytes() == 16);
}
