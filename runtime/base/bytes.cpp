#include "runtime/base/bytes.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/base/trimmed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

namespace hydra {

namespace {

struct unit_name {
  std::string_view name;
  std::uint64_t factor;
};

/// A bare number is a number of bytes; a rate needs its unit.
constexpr std::array byte_units{unit_name{"", 1},
                                unit_name{"B", 1},
                                unit_name{"kB", 1'000},
                                unit_name{"MB", 1'000'000},
                                unit_name{"GB", 1'000'000'000},
                                unit_name{"TB", 1'000'000'000'000},
                                unit_name{"KiB", 1ull << 10},
                                unit_name{"MiB", 1ull << 20},
                                unit_name{"GiB", 1ull << 30},
                                unit_name{"TiB", 1ull << 40}};
constexpr auto rate_units = std::span{byte_units}.subspan<1>();

constexpr std::array time_units{unit_name{"ns", 1},
                                unit_name{"us", 1'000},
                                unit_name{"ms", 1'000'000},
                                unit_name{"s", 1'000'000'000},
                                unit_name{"min", 60'000'000'000},
                                unit_name{"h", 3'600'000'000'000}};

/// The number as written, in two parts: a double would lose the last digits of large byte counts.
struct decimal {
  std::uint64_t whole = 0;
  double fraction = 0;
};

struct quantity {
  decimal number;
  std::uint64_t factor = 1;
};

/// Digits and at most one point; no sign, exponent, "nan" or "inf". Advances `text` past what it has read.
std::optional<decimal> read_decimal(std::string_view& text) {
  decimal d;
  const char* const end = text.data() + text.size();
  auto [next, error] = std::from_chars(text.data(), end, d.whole);
  if (error != std::errc{}) return std::nullopt;
  if (next != end && *next == '.') next = std::from_chars(next, end, d.fraction, std::chars_format::fixed).ptr;
  text.remove_prefix(static_cast<std::size_t>(next - text.data()));
  return d;
}

std::optional<quantity> read_quantity(std::string_view text, std::span<const unit_name> units) {
  const auto number = read_decimal(text);
  if (!number) return std::nullopt;
  text = trimmed_start(text, " ");
  const auto unit = std::ranges::find(units, text, &unit_name::name);
  if (unit == units.end()) return std::nullopt;
  return quantity{*number, unit->factor};
}

/// The quantity as a whole number of the smallest unit; empty if it is above `limit`.
std::optional<std::uint64_t> to_integer(const quantity& q, std::uint64_t limit) {
  const auto rest = static_cast<std::uint64_t>(std::llround(q.number.fraction * static_cast<double>(q.factor)));
  std::uint64_t n = 0;
  if (__builtin_mul_overflow(q.number.whole, q.factor, &n) || __builtin_add_overflow(n, rest, &n)) return std::nullopt;
  return n <= limit ? std::optional{n} : std::nullopt;
}

[[noreturn]] void refuse_number(std::string_view text, const char* what, const char* allowed) {
  throw fault_error{fault_code::bad_input, fmt::format("\"{}\" is not {}: {}", shown(text), what, allowed)};
}

/// Takes the next larger unit where the printed number would be rounded up to 1024.
std::string print_scaled(double n, const char* suffix) {
  constexpr std::array names{"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t i = 0;
  for (; n >= (i == 0 ? 1023.5 : 1023.95) && i + 1 < names.size(); ++i) n /= 1024;
  return i == 0 ? fmt::format("{:.0f} B{}", n, suffix) : fmt::format("{:.1f} {}{}", n, names[i], suffix);
}

}  // namespace

byte_count& byte_count::operator-=(byte_count o) {
  if (o.n_ > n_) throw fault_error{fault_code::internal, fmt::format("byte count below zero: {} B - {} B", n_, o.n_)};
  n_ -= o.n_;
  return *this;
}

duration byte_rate::time_for(byte_count n) const noexcept {
  if (!limited()) return duration::zero();
  const double ns = std::ceil(static_cast<double>(n.value()) * (1e9 / per_second_));
  // bounds durations, so that adding one to a time point cannot overflow
  constexpr duration century = std::chrono::hours{24 * 365 * 100};
  return ns < static_cast<double>(century.count()) ? duration{static_cast<std::int64_t>(ns)} : century;
}

byte_count parse_bytes(std::string_view text) {
  constexpr auto allowed =
      "write a number, not negative and below 16 million TiB, and a unit (B, kB, MB, GB, TB, KiB, MiB, GiB or TiB; "
      "none means B), such as \"24MiB\", \"1.5 GiB\" or \"512\"";
  const auto q = read_quantity(text, byte_units);
  const auto n = q ? to_integer(*q, std::numeric_limits<std::uint64_t>::max()) : std::nullopt;
  if (!n) refuse_number(text, "a number of bytes", allowed);
  return byte_count{*n};
}

byte_rate parse_rate(std::string_view text) {
  constexpr auto allowed =
      "write a number, not negative, and a unit (B/s, kB/s, MB/s, GB/s, TB/s, KiB/s, MiB/s, GiB/s or TiB/s), such as "
      "\"1GiB/s\" or \"300 MB/s\"";
  if (!text.ends_with("/s")) refuse_number(text, "a rate", allowed);
  const auto q = read_quantity(text.substr(0, text.size() - 2), rate_units);
  if (!q) refuse_number(text, "a rate", allowed);
  return byte_rate{(static_cast<double>(q->number.whole) + q->number.fraction) * static_cast<double>(q->factor)};
}

duration parse_duration(std::string_view text) {
  constexpr auto allowed =
      "write a number, not negative and below 292 years, and a unit (ns, us, ms, s, min or h), such as \"5ms\" or "
      "\"1.5s\"";
  const auto q = read_quantity(text, time_units);
  const auto n = q ? to_integer(*q, std::numeric_limits<std::int64_t>::max()) : std::nullopt;
  if (!n) refuse_number(text, "a time", allowed);
  return duration{static_cast<std::int64_t>(*n)};
}

std::string to_string(byte_count n) { return print_scaled(static_cast<double>(n.value()), ""); }

std::string to_string(byte_rate r) { return r.limited() ? print_scaled(r.per_second(), "/s") : "not limited"; }

std::string to_string(duration d) {
  const char* sign = d < duration::zero() ? "-" : "";
  const double ns = std::abs(static_cast<double>(d.count()));
  // Each threshold is the value at which the smaller unit would be rounded up to 1000.
  if (ns >= 999.95e6) return fmt::format("{}{:.3f} s", sign, ns / 1e9);
  if (ns >= 999.5e3) return fmt::format("{}{:.1f} ms", sign, ns / 1e6);
  if (ns >= 1e3) return fmt::format("{}{:.0f} us", sign, ns / 1e3);
  return fmt::format("{}{:.0f} ns", sign, ns);
}

}  // namespace hydra
