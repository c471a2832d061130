#include "actors/retry_book.hpp"

#include <catch2/catch.hpp>

using namespace hydra;

namespace {

unit attempt(std::uint32_t n, std::uint32_t shard = 0) {
  unit u;
  u.shard = shard_index{shard};
  u.attempt = n;
  return u;
}

}  // namespace

TEST_CASE("a unit that was lost through no fault of its own is tried again for ever") {
  retry_book book;
  const auto why = GENERATE(fault_code::device_lost, fault_code::dependency_failed, fault_code::cancelled);
  for (std::uint32_t n = 0; n < 100; ++n) {
    CHECK(book.may_retry(attempt(n), why));
  }
}

TEST_CASE("a unit that ran out of memory is tried once more, whichever its attempt") {
  retry_book book;
  CHECK(book.may_retry(attempt(0), fault_code::out_of_memory));
  CHECK(book.may_retry(attempt(0, 1), fault_code::out_of_memory));  // another unit has its own count
  CHECK_FALSE(book.may_retry(attempt(1), fault_code::out_of_memory));
}

TEST_CASE("a refused lease is asked for again, but not without end") {
  retry_book book;
  for (std::uint32_t n = 0; n < 3; ++n) {
    CHECK(book.may_retry(attempt(n), fault_code::refused));
  }
  CHECK_FALSE(book.may_retry(attempt(3), fault_code::refused));
}

TEST_CASE("what would fail again is not tried again") {
  retry_book book;
  for (const auto why : {fault_code::internal, fault_code::bad_input, fault_code::io, fault_code::not_finite}) {
    CHECK_FALSE(book.may_retry(attempt(0), why));
  }
}
