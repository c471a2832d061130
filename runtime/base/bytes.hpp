#pragma once
// Byte counts, rates and times: literals, parsing, printing.

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace hydra {

using steady_clock = std::chrono::steady_clock;
using time_point = steady_clock::time_point;
using duration = std::chrono::nanoseconds;

/// A number of bytes. Subtraction below zero throws a fault: it always means an accounting error.
class byte_count {
 public:
  constexpr byte_count() = default;
  constexpr explicit byte_count(std::uint64_t n) : n_(n) {}
  constexpr std::uint64_t value() const noexcept { return n_; }
  friend constexpr auto operator<=>(const byte_count&, const byte_count&) = default;

  constexpr byte_count& operator+=(byte_count o) noexcept { return n_ += o.n_, *this; }
  byte_count& operator-=(byte_count o);
  friend constexpr byte_count operator+(byte_count a, byte_count b) noexcept { return a += b; }
  friend byte_count operator-(byte_count a, byte_count b) { return a -= b; }
  friend constexpr byte_count operator*(byte_count a, std::uint64_t k) noexcept { return byte_count{a.n_ * k}; }

  friend auto inspect(auto& f, byte_count& x) { return f(x.n_); }

 private:
  std::uint64_t n_ = 0;
};

/// Rounds up to a multiple of `unit` bytes.
constexpr byte_count round_up(byte_count n, std::uint64_t unit) noexcept {
  return byte_count{(n.value() + unit - 1) / unit * unit};
}

/// Bytes per second. Zero means "unlimited".
class byte_rate {
 public:
  constexpr byte_rate() = default;
  constexpr explicit byte_rate(double per_second) : per_second_(per_second) {}
  constexpr double per_second() const noexcept { return per_second_; }
  constexpr bool limited() const noexcept { return per_second_ > 0; }
  /// Time to transfer `n` bytes at this rate; zero if unlimited.
  duration time_for(byte_count n) const noexcept;
  friend constexpr auto operator<=>(const byte_rate&, const byte_rate&) = default;

 private:
  double per_second_ = 0;
};

/// "24MiB", "1.5 GiB", "512" -> bytes (B, kB, MB, GB, TB, KiB, MiB, GiB, TiB). Throws fault_error{bad_input}.
byte_count parse_bytes(std::string_view text);
/// "1GiB/s" -> rate. Throws fault_error{bad_input}.
byte_rate parse_rate(std::string_view text);
/// "5ms", "20us", "1.5s", "100ns" -> duration. Throws fault_error{bad_input}.
duration parse_duration(std::string_view text);

/// "412.0 MiB".
std::string to_string(byte_count n);
/// "1.0 GiB/s".
std::string to_string(byte_rate r);
/// "1.234 s", "56.7 ms", "12 us".
std::string to_string(duration d);

constexpr double seconds(duration d) noexcept { return std::chrono::duration<double>(d).count(); }
constexpr double microseconds(duration d) noexcept { return std::chrono::duration<double, std::micro>(d).count(); }
constexpr duration from_seconds(double s) noexcept {
  return duration{static_cast<std::int64_t>(s * 1e9)};
}

namespace literals {
constexpr byte_count operator""_B(unsigned long long n) { return byte_count{n}; }
constexpr byte_count operator""_KiB(unsigned long long n) { return byte_count{n << 10}; }
constexpr byte_count operator""_MiB(unsigned long long n) { return byte_count{n << 20}; }
constexpr byte_count operator""_GiB(unsigned long long n) { return byte_count{n << 30}; }
constexpr byte_rate operator""_MiB_per_s(unsigned long long n) { return byte_rate{static_cast<double>(n) * 1048576.0}; }
constexpr byte_rate operator""_GiB_per_s(unsigned long long n) {
  return byte_rate{static_cast<double>(n) * 1073741824.0};
}
}  // namespace literals

}  // namespace hydra
