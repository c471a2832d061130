#include "runtime/base/fault.hpp"

#include <c10/util/Exception.h>
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>

using namespace hydra;

namespace {

template <class Thrower>
fault caught(Thrower thrower) {
  try {
    thrower();
    return {};
  } catch (...) {
    return to_fault(std::current_exception());
  }
}

}  // namespace

TEST_CASE("no exception is no fault") {
  REQUIRE_FALSE(to_fault(nullptr));
  REQUIRE(to_fault(nullptr).code == fault_code::none);
}

TEST_CASE("a fault keeps code and text through an exception") {
  const fault f = caught([] { throw fault_error{fault_code::refused, "version 3 is not at home"}; });
  REQUIRE(f);
  REQUIRE(f.code == fault_code::refused);
  REQUIRE(f.text == "version 3 is not at home");
  REQUIRE(std::string{fault_error{f}.what()} == f.text);
}

TEST_CASE("errors of LibTorch become faults without their backtrace") {
  const fault f = caught([] { TORCH_CHECK(false, "shapes ", 3, " and ", 4, " do not match"); });
  REQUIRE(f.code == fault_code::internal);
  REQUIRE(f.text == "shapes 3 and 4 do not match");
}

TEST_CASE("a refused allocation is out of memory, whether LibTorch or the host refuses it") {
  const fault torch = caught([] { TORCH_CHECK_WITH(OutOfMemoryError, false, "no memory"); });
  REQUIRE(torch.code == fault_code::out_of_memory);
  REQUIRE(torch.text == "no memory");
  const fault host = caught([] { throw std::bad_alloc{}; });
  REQUIRE(host.code == fault_code::out_of_memory);
  REQUIRE_THAT(host.text, Catch::Contains("no memory left"));
  const fault tensor = caught([] {
    TORCH_CHECK(false, "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to "
                       "allocate 40000400192 bytes. Error code 12 (Cannot allocate memory)");
  });
  REQUIRE(tensor.code == fault_code::out_of_memory);
  REQUIRE(tensor.text == host.text);
}

TEST_CASE("files that cannot be used are I/O faults") {
  const fault missing = caught([] { (void)std::filesystem::file_size("no/such/file"); });
  REQUIRE(missing.code == fault_code::io);
  REQUIRE_THAT(missing.text, Catch::Contains("no/such/file"));
  const fault stream = caught([] {
    std::ifstream in;
    in.exceptions(std::ios::failbit);
    in.open("no/such/file");
  });
  REQUIRE(stream.code == fault_code::io);
}

TEST_CASE("a thread that the system refuses is said to be one, with what to do") {
  const fault thread = caught([] { throw std::system_error{std::make_error_code(std::errc::resource_unavailable_try_again)}; });
  CHECK(thread.code == fault_code::bad_input);
  CHECK_THAT(thread.text, Catch::StartsWith("no thread could be started (") && Catch::Contains("ulimit -u"));
  const fault other = caught([] { throw std::system_error{std::make_error_code(std::errc::invalid_argument)}; });
  CHECK(other.code == fault_code::internal);
}

TEST_CASE("everything else is internal") {
  REQUIRE(caught([] { throw std::logic_error{"odd"}; }).code == fault_code::internal);
  REQUIRE(caught([] { throw std::logic_error{"odd"}; }).text == "odd");
  REQUIRE(caught([] { throw 5; }).code == fault_code::internal);
}

TEST_CASE("every fault code has a distinct name") {
  std::set<std::string> names;
  for (int i = 0; i <= static_cast<int>(fault_code::internal); ++i) names.insert(to_string(static_cast<fault_code>(i)));
  REQUIRE(names.size() == 13);
  REQUIRE_FALSE(names.contains("unknown fault"));
}
