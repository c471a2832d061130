#include "runtime/base/fault.hpp"

#include <c10/util/Exception.h>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
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

TEST_CASE("no exception is not a fault") {
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
    TORCH_CHECK(
        false,
        "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to "
        "allocate 40000400192 bytes. Error code 12 (Cannot allocate memory)");
  });
  REQUIRE(tensor.code == fault_code::out_of_memory);
  REQUIRE(tensor.text == host.text);
}

TEST_CASE("a path that leads nowhere is bad input, named with the reason") {
  const fault missing = caught([] { (void)std::filesystem::file_size("no/such/file"); });
  REQUIRE(missing.code == fault_code::bad_input);
  REQUIRE(missing.text == "no/such/file: No such file or directory");
}

TEST_CASE("JSON of another form is bad input, named by its keys and without the library's numbers") {
  const auto text_in = [](const char* text) {
    return caught([text] { (void)nlohmann::json::parse(text).at("models").at(1).at("name").get<std::string>(); });
  };
  REQUIRE(text_in(R"({"models": [{}, {"name": 5}]})").text == "models[1].name: a number is given, expected a text");
  REQUIRE(text_in(R"({"models": [{}, {}]})").text == "models[1]: \"name\" is missing");
  REQUIRE(text_in(R"({"models": [{}, null]})").text == "models[1]: null is given, expected an object");
  REQUIRE(text_in(R"({"models": [{}, null]})").code == fault_code::bad_input);
  REQUIRE_THAT(text_in("{").text, Catch::StartsWith("syntax error while parsing"));
}

TEST_CASE("files that cannot be used are I/O faults") {
  const fault full = caught([] {
    throw std::filesystem::filesystem_error{"write", "a", std::make_error_code(std::errc::no_space_on_device)};
  });
  REQUIRE(full.code == fault_code::io);
  REQUIRE(full.text == "a: No space left on device");
  const fault stream = caught([] {
    std::ifstream in;
    in.exceptions(std::ios::failbit);
    in.open("no/such/file");
  });
  REQUIRE(stream.code == fault_code::io);
}

TEST_CASE("a thread that the system refuses is said to be one, with what to do") {
  const fault thread =
      caught([] { throw std::system_error{std::make_error_code(std::errc::resource_unavailable_try_again)}; });
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
