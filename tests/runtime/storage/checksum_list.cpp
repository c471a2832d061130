#include "runtime/storage/checksum_list.hpp"

#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>

using namespace hydra;

namespace {

const std::string hash(64, 'a');

}  // namespace

TEST_CASE("a list of checksums is read as it was written") {
  const std::vector<checksum> sums{{"model.safetensors", hash}, {" *w\xC3\xB6rter", std::string(64, '0')}};
  CHECK(parse_checksums(to_text(sums)) == sums);
  CHECK(to_text({}).empty());
  CHECK(parse_checksums("").empty());
}

TEST_CASE("a list names plain files only") {
  CHECK(can_be_listed("model-00001.safetensors"));
  for (const char* name : {"", ".", "..", "-", "SHA256SUMS", "a/b", "/", "a\\b", "a\nb", "a\rb", "\x7f"})
    CHECK_FALSE(can_be_listed(name));
}

TEST_CASE("a line that is not a checksum and a plain name is refused with its number") {
  const std::string good = hash + "  a\n";
  for (const std::string& bad : {std::string{"\n"}, hash + "\n", hash + "  \n", hash + " a\n", hash + " *a\n",
                                 hash + "  ../a\n", hash + "  /a\n", hash.substr(1) + "  a\n", "a" + hash + "  a\n",
                                 std::string(64, 'A') + "  a\n", std::string(64, 'g') + "  a\n"}) {
    CAPTURE(bad);
    CHECK_THROWS_WITH(parse_checksums(good + bad + good), Catch::Contains("line 2 of SHA256SUMS"));
  }
}

TEST_CASE("a list that ends within a line is refused") {
  CHECK_THROWS_WITH(parse_checksums(hash + "  a\n" + hash + "  b"), Catch::Contains("ends within line 2"));
}
