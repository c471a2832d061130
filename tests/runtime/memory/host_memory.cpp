#include "runtime/memory/host_memory.hpp"

#include <catch2/catch.hpp>

#include <cstring>
#include <vector>

using namespace hydra;
using namespace hydra::literals;

TEST_CASE("the peak of the process counts what it has touched, also after that is freed") {
  const auto before = process_peak_memory();
  REQUIRE(before > 0_B);
  {
    std::vector<char> touched(before.value() + (32 << 20));
    std::memset(touched.data(), 1, touched.size());
  }
  CHECK(process_peak_memory() > before + 30_MiB);
}

TEST_CASE("some of the host's memory is available") { CHECK(available_host_memory() > 0_B); }
