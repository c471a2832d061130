#pragma once
// The part of a layer's parameter that one of the layer's pieces has, and what it is called.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

/// Of one dimension of the whole parameter these indices, in this order: the parts [first, past).
struct parameter_slice {
  struct range {
    std::int64_t first = 0;
    std::int64_t past = 0;
    std::int64_t size() const noexcept { return past - first; }
    friend bool operator==(const range&, const range&) = default;
  };

  std::vector<std::int64_t> whole;  ///< shape of the whole parameter
  std::size_t dimension = 0;
  std::vector<range> parts;

  std::vector<std::int64_t> shape() const;
  /// Calls `run(in_whole, in_slice, n)` for each run of values that are adjacent in both, row by row, by offsets.
  void for_each_run(const std::function<void(std::size_t, std::size_t, std::size_t)>& run) const;
  friend bool operator==(const parameter_slice&, const parameter_slice&) = default;
};

/// One of the pieces of a layer: `number` counts from 0.
struct piece_place {
  std::uint32_t number = 0;
  std::uint32_t of = 1;

  constexpr bool first() const noexcept { return number == 0; }
  constexpr bool last() const noexcept { return number + 1 == of; }
  constexpr bool whole() const noexcept { return of == 1; }
  /// What it has of `n` things in a row; the parts of pieces differ by at most one. All are its if it is the only one.
  parameter_slice::range of_row(std::int64_t n) const noexcept;
  /// The same of several rows, one behind the other.
  std::vector<parameter_slice::range> of_each_row(const std::vector<std::int64_t>& rows) const;
  friend bool operator==(const piece_place&, const piece_place&) = default;
};

/// For signatures: pieces of a layer that have the same cost have the same name.
constexpr const char* name_of(const piece_place& piece) noexcept {
  return piece.first() ? "first" : piece.last() ? "last" : "next";
}

/// "c_attn.weight/2of4": what piece 1 of 4 has of the parameter, or its copy of one that all pieces have.
std::string piece_name(const std::string& parameter, const piece_place& piece);
/// The name of the whole parameter: "c_attn.weight".
std::string whole_name(std::string_view parameter);

}  // namespace hydra
