#include "runtime/storage/sha256.hpp"

#include <catch2/catch.hpp>

#include <string_view>

using namespace hydra;

namespace {

void add(sha256& hash, std::string_view text) { hash.add(std::as_bytes(std::span{text})); }

}  // namespace

TEST_CASE("SHA-256 of no bytes and of abc are those of the standard") {
  CHECK(sha256{}.finish() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  sha256 hash;
  add(hash, "abc");
  CHECK(hash.finish() == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_CASE("SHA-256 does not depend on how the bytes are divided") {
  sha256 hash;
  add(hash, "a");
  add(hash, "");
  add(hash, "bc");
  CHECK(hash.finish() == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}
