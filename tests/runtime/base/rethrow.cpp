#include "runtime/base/rethrow.hpp"

#include "runtime/base/fault.hpp"

#include <c10/util/Exception.h>
#include <catch2/catch.hpp>

#include <exception>
#include <stdexcept>

using namespace hydra;
using Catch::Matchers::StartsWith;

namespace {

template <class Thrown>
std::exception_ptr thrown_from(const Thrown& what) {
  try {
    try {
      throw what;
    } catch (...) {
      rethrow_from("layer 2");
    }
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace

TEST_CASE("what is thrown again keeps its code, and says first where it was thrown") {
  const auto f = to_fault(thrown_from(fault_error{fault_code::does_not_fit, "too wide"}));
  CHECK(f.code == fault_code::does_not_fit);
  CHECK(f.text == "layer 2: too wide");
  CHECK(to_fault(thrown_from(std::runtime_error{"boom"})).text == "layer 2: boom");
}

TEST_CASE("what is thrown and is not a std::exception also gets the place") {
  CHECK(to_fault(thrown_from(7)).text == "layer 2: an exception was thrown that is not a std::exception");
}

TEST_CASE("an exception of LibTorch keeps its type, by which devices know what has failed") {
  const auto again = thrown_from(c10::OutOfMemoryError{{"f", "file", 1}, "no memory left"});
  CHECK_THROWS_AS(std::rethrow_exception(again), c10::OutOfMemoryError);
  CHECK(to_fault(again).code == fault_code::out_of_memory);
  CHECK_THAT(to_fault(again).text, StartsWith("no memory left") && Catch::Contains("(layer 2)"));
}
