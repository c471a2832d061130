#include "models/weights/safetensors_file.hpp"

#include "runtime/base/fault.hpp"
#include "tests/support/stored_tensors.hpp"
#include "tests/support/temporary_file.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;
using namespace std::literals;

namespace safetensors_file_test {

const std::string six_floats(24, 'f'), two_ints(16, 'i'), five_bytes(5, 'u');

const std::vector<named_tensor> mixed{{"ids", tensor_of(stored_type::i64, {2}, two_ints)},
                                      {"", tensor_of(stored_type::f32, {2, 3}, six_floats)},
                                      {"none", tensor_of(stored_type::f32, {0, 3}, "")},
                                      {"r\xC3\xA4nd\"om\n\0\\"s, tensor_of(stored_type::u8, {5}, five_bytes)}};

/// The message with which a file of these bytes is refused; empty if it is accepted.
std::string refusal_of(std::string_view bytes) {
  const temporary_file file{bytes};
  try {
    safetensors_file{file.path()};
    return {};
  } catch (const fault_error& e) {
    CHECK(e.what_happened().code == fault_code::bad_input);
    CHECK_THAT(e.what(), Contains(file.path().string()));
    return e.what();
  }
}

TEST_CASE("tensors are found as they were written") {
  const temporary_file written{safetensors_text(mixed)};
  const safetensors_file file{written.path()};
  REQUIRE(file.names().size() == mixed.size());
  for (const auto& [name, tensor] : mixed) {
    const auto found = file.find(name);
    REQUIRE(found);
    CHECK(found->type == tensor.type);
    CHECK(found->shape == tensor.shape);
    CHECK(text_of(*found) == text_of(tensor));
    CHECK(reinterpret_cast<std::uintptr_t>(found->data.data()) % width_of(found->type) == 0);
  }
  CHECK_FALSE(file.find("unknown"));
}

TEST_CASE("names are in the order of the data") {
  const temporary_file written{safetensors_text(mixed)};
  const safetensors_file file{written.path()};
  for (std::size_t i = 0; i < mixed.size(); ++i) CHECK(file.names()[i] == mixed[i].name);
}

TEST_CASE("a file of no tensors has no names") {
  const temporary_file written{safetensors_text({})};
  CHECK(safetensors_file{written.path()}.names().empty());
}

TEST_CASE("a file that is cut anywhere is refused") {
  const std::string whole = safetensors_text(mixed);
  CHECK(refusal_of(whole).empty());
  for (std::size_t size = 0; size < whole.size(); ++size) CHECK_FALSE(refusal_of(whole.substr(0, size)).empty());
  CHECK_THAT(refusal_of(whole + "x"), Contains("no tensor owns"));
}

TEST_CASE("a header longer than the file is refused without reading it") {
  CHECK_THAT(refusal_of("\x02\0\0\0"sv), Contains("4 bytes are too few"));
  CHECK_THAT(refusal_of("\x03\0\0\0\0\0\0\0{}"sv), Contains("header of 3 bytes does not fit a file of 10"));
  CHECK_THAT(refusal_of("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF{}"sv), Contains("18446744073709551615 bytes does not fit"));
  CHECK_THAT(refusal_of("\0\0\0\0\0\0\0\0"sv), Contains("not an object"));
}

TEST_CASE("an invalid tensor is refused with file and tensor") {
  const std::string header = R"({"h.0.weight":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})";
  const std::string length{static_cast<char>(header.size())};
  CHECK_THAT(refusal_of(length + std::string(7, '\0') + header + "data"), Contains("tensor \"h.0.weight\""));
}

TEST_CASE("a file with any other byte in its header is refused or still covers its data") {
  const std::string whole = safetensors_text(mixed);
  const std::size_t data = two_ints.size() + six_floats.size() + five_bytes.size();
  for (std::size_t i = 0; i < whole.size() - data; ++i)
    for (const char other : {'\0', '0', '9', '"', '}', '\xFF'}) {
      std::string changed = whole;
      changed[i] = other;
      const temporary_file written{changed};
      std::size_t covered = data;
      try {
        const safetensors_file file{written.path()};
        covered = 0;
        for (const std::string& name : file.names()) covered += file.find(name)->data.size();
      } catch (const fault_error&) {  // refused
      }
      CAPTURE(i, other);
      CHECK(covered == data);
    }
}

TEST_CASE("a file that does not exist is named") {
  CHECK_THROWS_WITH(safetensors_file{"no such file"}, Contains("no such file: no such file"));
}

}  // namespace safetensors_file_test
