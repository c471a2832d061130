// Of all test programs: says which sample of everything the tests try (depth.hpp).
#define CATCH_CONFIG_RUNNER
#include "tests/support/depth.hpp"

#include <catch2/catch.hpp>

#include <iostream>

int main(int argc, char** argv) {
  if (hydra::test::is_deep())
    std::cout << "HYDRA_TESTS=deep\n";
  else
    std::cout << "HYDRA_TEST_SEED=" << hydra::test::test_seed() << '\n';
  return Catch::Session().run(argc, argv);
}
