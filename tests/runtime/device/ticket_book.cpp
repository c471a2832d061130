#include "runtime/device/ticket_book.hpp"

#include <catch2/catch.hpp>

#include <random>
#include <set>
#include <vector>

using namespace hydra;

TEST_CASE("tickets grow, and ticket 0 is always complete") {
  ticket_book book;
  REQUIRE(book.knows(ticket{}));
  REQUIRE(book.completed(ticket{}));
  REQUIRE_FALSE(book.failed(ticket{}));
  const ticket first = book.issue();
  const ticket second = book.issue();
  REQUIRE(first);
  REQUIRE(second > first);
  REQUIRE(book.knows(second));
  REQUIRE_FALSE(book.knows(ticket{second.value + 1}));
}

TEST_CASE("an operation is complete when it has ended, whatever came before or after") {
  ticket_book book;
  const ticket first = book.issue();
  const ticket second = book.issue();
  book.complete(second, false);
  REQUIRE(book.completed(second));
  REQUIRE_FALSE(book.completed(first));
  book.complete(first, true);
  REQUIRE(book.completed(first));
  REQUIRE(book.failed(first));
  REQUIRE_FALSE(book.failed(second));
}

TEST_CASE("a million cancelled operations are one entry, a million good ones none") {
  ticket_book book;
  for (int i = 0; i < 1'000'000; ++i) book.complete(book.issue(), false);
  REQUIRE(book.failed_runs() == 0);
  for (int i = 0; i < 1'000'000; ++i) book.complete(book.issue(), true);
  REQUIRE(book.failed_runs() == 1);
  REQUIRE_FALSE(book.failed(ticket{1'000'000}));
  REQUIRE(book.failed(ticket{1'000'001}));
  REQUIRE(book.failed(ticket{2'000'000}));
}

TEST_CASE("failures in any order are remembered like in a set") {
  std::mt19937 random{3};
  ticket_book book;
  std::vector<ticket> open;
  std::set<ticket> failed;
  for (int i = 0; i < 3000; ++i) open.push_back(book.issue());
  std::ranges::shuffle(open, random);
  for (const ticket t : open) {
    const bool bad = random() % 2 == 0;
    book.complete(t, bad);
    if (bad) failed.insert(t);
  }
  std::size_t runs = 0;
  for (const ticket t : failed) runs += !failed.contains(ticket{t.value - 1});
  for (std::uint64_t n = 0; n <= 3001; ++n) REQUIRE(book.failed(ticket{n}) == failed.contains(ticket{n}));
  REQUIRE(book.failed_runs() == runs);
}

TEST_CASE("a book knows when nothing is outstanding") {
  ticket_book book;
  REQUIRE(book.all_completed());
  const ticket first = book.issue();
  const ticket second = book.issue();
  book.complete(second, true);
  REQUIRE_FALSE(book.all_completed());
  book.complete(first, false);
  REQUIRE(book.all_completed());
}
