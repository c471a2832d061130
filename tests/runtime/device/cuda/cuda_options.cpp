#include "runtime/device/cuda/cuda_options.hpp"

#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>

#include <functional>

using namespace hydra;
using namespace hydra::literals;

namespace {

std::string refusal(const std::function<void()>& of) {
  try {
    of();
  } catch (const fault_error& e) {
    return e.what_happened().text;
  }
  return {};
}

}  // namespace

TEST_CASE("a CUDA device has defaults for everything") {
  const auto o = read_cuda_options({.name = "cuda:0"});
  REQUIRE(o.name == "cuda:0");
  REQUIRE(o.index == 0);
  REQUIRE(o.numbers == precision::fp32);
  REQUIRE(o.gradients == precision::fp32);
  REQUIRE_FALSE(o.tf32);
  REQUIRE(o.pool == pool_kind::arena);
  REQUIRE_FALSE(o.context);
  REQUIRE(o.use == device_use::run);
  REQUIRE(read_cuda_options({.name = "cuda:0", .options = {}, .use = device_use::measure}).use == device_use::measure);
  REQUIRE(memory_budget(o.name, o.memory, 100_GiB, 140_GiB) == 90_GiB);
}

TEST_CASE("the keys of a CUDA device are read") {
  const auto o = read_cuda_options({.name = "cuda:1",
                                    .options = {{"index", std::int64_t{1}},
                                                {"memory", std::string{"24GiB"}},
                                                {"precision", std::string{"bf16"}},
                                                {"gradients", std::string{"bf16"}},
                                                {"tf32", true},
                                                {"pool", std::string{"expandable"}},
                                                {"context", 1_GiB}}});
  REQUIRE(o.index == 1);
  REQUIRE(o.numbers == precision::bf16);
  REQUIRE(o.gradients == precision::bf16);
  REQUIRE(o.tf32);
  REQUIRE(o.pool == pool_kind::expandable);
  REQUIRE(o.context == 1_GiB);
  REQUIRE(memory_budget(o.name, o.memory, 30_GiB, 80_GiB) == 24_GiB);
}

TEST_CASE("exactly the keys of the list are read") {
  device_request all{.name = "cuda:0"};
  for (const auto& option : cuda_option_list()) {
    all.options.emplace(option.name, option.standard);
  }
  REQUIRE_NOTHROW(read_cuda_options(all));
  REQUIRE(all.options.size() == 7);
}

TEST_CASE("a share refers to the whole GPU, so that several devices can divide it") {
  REQUIRE(memory_budget("cuda:0", "50%", 80_GiB, 80_GiB) == 40_GiB);
  REQUIRE(memory_budget("cuda:1", "50%", 40_GiB, 80_GiB) == 40_GiB);
  REQUIRE(memory_budget("cuda:0", "12.5%", 80_GiB, 80_GiB) == 10_GiB);
}

TEST_CASE("what a GPU cannot give is refused with what it has") {
  REQUIRE(
      refusal([] { memory_budget("cuda:0", "60GiB", 40_GiB, 80_GiB); }) ==
      "device cuda:0: memory: 60.0 GiB requested, but of the GPU's 80.0 GiB only 40.0 GiB are free; request less, or "
      "stop what else uses the GPU");
  for (const auto* share : {"%", "0%", "-5%", "101%", "abc%", "50 %"}) {
    REQUIRE_THAT(refusal([&] { memory_budget("cuda:0", share, 80_GiB, 80_GiB); }), Catch::Contains("not a share"));
  }
  REQUIRE_THROWS_AS(memory_budget("cuda:0", "much", 80_GiB, 80_GiB), fault_error);
}

TEST_CASE("an invalid value of a CUDA device is refused with the allowed ones") {
  REQUIRE(refusal([] { read_cuda_options({.name = "cuda:0", .options = {{"precision", std::string{"fp16"}}}}); }) ==
          "device cuda:0: option precision must be one of \"fp32\", \"bf16\", got \"fp16\"");
  REQUIRE_THAT(refusal([] { read_cuda_options({.name = "cuda:0", .options = {{"index", std::int64_t{-1}}}}); }),
               Catch::Contains("index must be an integer of at least 0 and at most 1023, got -1"));
}
