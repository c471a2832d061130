#include "actors/report/unit_times_record.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace std::chrono_literals;

TEST_CASE("a sample of times has the least and the mean, without what took three times the median", "[report]") {
  time_sample s;
  CHECK(s.least() == 0ns);
  CHECK(s.mean() == 0ns);
  for (const auto t : {10us, 12us, 11us, 9us, 500us}) {
    s.add(t);
  }
  CHECK(s.least() == 9us);
  CHECK(s.mean() == 10500ns);
}

TEST_CASE("times that differ by less than three all count", "[report]") {
  time_sample s;
  for (const auto t : {10us, 20us, 25us}) {
    s.add(t);
  }
  CHECK(s.mean() == 18333ns);
}
