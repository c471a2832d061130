#include "models/weights/digest.hpp"

#include <catch2/catch.hpp>

#include <array>

using namespace hydra;

TEST_CASE("a digest is the SHA-256 of the little-endian values") {
  CHECK(digest{}.finish() == "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  digest d;
  d.add(std::array{1.0f, -2.5f, 0.1f});
  CHECK(d.finish() == "sha256:2f9cc761bc2594fa578868daeedc59b0fc115513fae3e5dc09c4e86e50b8aaf6");
}

TEST_CASE("a digest does not depend on how the values are divided") {
  digest d;
  d.add(std::array{1.0f});
  d.add(std::array{-2.5f, 0.1f});
  CHECK(d.finish() == "sha256:2f9cc761bc2594fa578868daeedc59b0fc115513fae3e5dc09c4e86e50b8aaf6");
}
