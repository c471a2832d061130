#include "runtime/base/bytes.hpp"

#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <random>

using namespace hydra;
using namespace hydra::literals;
using namespace std::chrono_literals;

namespace {

/// The fault of parsing `text`; none if it is accepted.
template <class Parse>
fault refusal(Parse parse, std::string_view text) {
  try {
    parse(text);
    return {};
  } catch (const fault_error& e) {
    return e.what_happened();
  }
}

}  // namespace

TEST_CASE("byte counts are read with decimal and binary units") {
  REQUIRE(parse_bytes("512") == 512_B);
  REQUIRE(parse_bytes("512B") == 512_B);
  REQUIRE(parse_bytes("3kB") == 3000_B);
  REQUIRE(parse_bytes("3MB") == 3'000'000_B);
  REQUIRE(parse_bytes("3GB") == 3'000'000'000_B);
  REQUIRE(parse_bytes("3TB") == 3'000'000'000'000_B);
  REQUIRE(parse_bytes("3KiB") == 3_KiB);
  REQUIRE(parse_bytes("24MiB") == 24_MiB);
  REQUIRE(parse_bytes("1.5 GiB") == 1536_MiB);
  REQUIRE(parse_bytes("2TiB") == 2048_GiB);
  REQUIRE(parse_bytes("0") == 0_B);
}

TEST_CASE("large byte counts keep their last digit") {
  REQUIRE(parse_bytes("18446744073709551615") == byte_count{std::numeric_limits<std::uint64_t>::max()});
  REQUIRE(parse_bytes("9007199254740993B") == byte_count{9007199254740993});  // 2^53 + 1 cannot be stored in a double
  REQUIRE(parse_bytes("16777215.5TiB") == byte_count{(16777215ull << 40) + (1ull << 39)});
}

TEST_CASE("an invalid byte count is refused and the text says what is allowed") {
  for (const char* text : {"",
                           " ",
                           "-1",
                           "+1",
                           "-0",
                           "nan",
                           "inf",
                           "1e9",
                           "5nanMiB",
                           "5infMiB",
                           "0x10",
                           "MiB",
                           "1.5.2MiB",
                           "1,5MiB",
                           ".5MiB",
                           "5.MiB",
                           "24mib",
                           "24 Mi B",
                           "24MiBx",
                           "24MiB/s",
                           " 1MiB",
                           "18446744073709551616",
                           "16777216TiB",
                           "99999999999999999999999GiB",
                           "16777215.9999999999999TiB"}) {
    const fault f = refusal(parse_bytes, text);
    CAPTURE(text, f.text);
    REQUIRE(f.code == fault_code::bad_input);
    REQUIRE_THAT(f.text, Catch::StartsWith("\"" + std::string{text} + "\" is not a number of bytes"));
    REQUIRE_THAT(f.text, Catch::Contains("MiB") && Catch::Contains("not negative"));
  }
}

TEST_CASE("rates are read per second") {
  REQUIRE(parse_rate("1GiB/s") == 1_GiB_per_s);
  REQUIRE(parse_rate("0.5 GiB/s") == 512_MiB_per_s);
  REQUIRE(parse_rate("300MB/s") == byte_rate{3e8});
  REQUIRE(parse_rate("7B/s") == byte_rate{7});
  REQUIRE_FALSE(parse_rate("0B/s").limited());
}

TEST_CASE("an invalid rate is refused") {
  for (const char* text :
       {"", "1GiB", "1GiB/h", "1/s", "/s", "-1GiB/s", "nanGiB/s", "infB/s", "1e400B/s", "1GiB/s/s", "GiB/s"}) {
    CAPTURE(text);
    REQUIRE(refusal(parse_rate, text).code == fault_code::bad_input);
    REQUIRE_THAT(refusal(parse_rate, text).text, Catch::Contains("GiB/s"));
  }
}

TEST_CASE("times are read with their unit") {
  REQUIRE(parse_duration("100ns") == 100ns);
  REQUIRE(parse_duration("10min") == 10min);
  REQUIRE(parse_duration("1.5h") == 90min);
  REQUIRE(parse_duration("20us") == 20us);
  REQUIRE(parse_duration("5ms") == 5ms);
  REQUIRE(parse_duration("1.5s") == 1500ms);
  REQUIRE(parse_duration("0s") == 0ns);
  REQUIRE(parse_duration("9223372036854775807ns") == duration::max());
}

TEST_CASE("an invalid time is refused") {
  for (const char* text : {"", "5", "-5ms", "5 m", "nans", "5msec", "9223372036854775808ns", "9223372037s", "1e3s"}) {
    CAPTURE(text);
    REQUIRE(refusal(parse_duration, text).code == fault_code::bad_input);
    REQUIRE_THAT(refusal(parse_duration, text).text, Catch::Contains("5ms"));
  }
}

TEST_CASE("byte counts, rates and times are printed for people") {
  REQUIRE(to_string(0_B) == "0 B");
  REQUIRE(to_string(1023_B) == "1023 B");
  REQUIRE(to_string(1_KiB) == "1.0 KiB");
  REQUIRE(to_string(412_MiB) == "412.0 MiB");
  REQUIRE(to_string(1536_MiB) == "1.5 GiB");
  REQUIRE(to_string(1_GiB_per_s) == "1.0 GiB/s");
  REQUIRE(to_string(byte_rate{}) == "not limited");
  REQUIRE(to_string(duration{1234ms}) == "1.234 s");
  REQUIRE(to_string(duration{56700us}) == "56.7 ms");
  REQUIRE(to_string(duration{12us}) == "12 us");
  REQUIRE(to_string(duration{100ns}) == "100 ns");
  REQUIRE(to_string(duration{-12us}) == "-12 us");
}

TEST_CASE("nothing is printed as a thousand of the smaller unit") {
  REQUIRE(to_string(1_MiB - 1_B) == "1.0 MiB");
  REQUIRE(to_string(1_GiB - 1_B) == "1.0 GiB");
  REQUIRE(to_string(duration{999'999us}) == "1.000 s");
  REQUIRE(to_string(duration{999'999ns}) == "1.0 ms");
}

TEST_CASE("what was printed is read back to the printed precision") {
  std::mt19937_64 generator{7};
  for (int i = 0; i < 10000; ++i) {
    const byte_count n{generator() >> (generator() % 64)};
    if (n.value() >> 63) continue;  // rounding up could exceed 2^64
    const double error =
        std::abs(static_cast<double>(parse_bytes(to_string(n)).value()) - static_cast<double>(n.value()));
    CAPTURE(n.value(), to_string(n));
    REQUIRE(error <= 0.05 * std::max(20.0, static_cast<double>(n.value())));
    REQUIRE(to_string(parse_bytes(to_string(n))) == to_string(n));
    const duration d{static_cast<std::int64_t>(n.value())};
    REQUIRE(to_string(parse_duration(to_string(d))) == to_string(d));
  }
}

TEST_CASE("byte counts never go below zero") {
  REQUIRE(3_B - 3_B == 0_B);
  REQUIRE_THROWS_AS(3_B - 4_B, fault_error);
  byte_count n = 3_B;
  REQUIRE_THROWS_AS(n -= 4_B, fault_error);
  REQUIRE(n == 3_B);
}

TEST_CASE("a copy takes at least bytes over rate") {
  REQUIRE((1_GiB_per_s).time_for(1_GiB) == 1s);
  REQUIRE(byte_rate{3}.time_for(1_B) == 333333334ns);  // rounded up
  REQUIRE(byte_rate{}.time_for(1_GiB) == 0ns);
  REQUIRE(byte_rate{1e-9}.time_for(1_GiB) == std::chrono::hours{24 * 365 * 100});  // limited, not overflowed
}

TEST_CASE("rounding up gives the next multiple") {
  REQUIRE(round_up(0_B, 512) == 0_B);
  REQUIRE(round_up(1_B, 512) == 512_B);
  REQUIRE(round_up(512_B, 512) == 512_B);
  REQUIRE(round_up(513_B, 512) == 1024_B);
}
