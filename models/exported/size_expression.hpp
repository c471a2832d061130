#pragma once
// Sizes in an exported graph: integers that depend on the number of samples, B. Standard library only.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace hydra {

struct size_expression {
  enum class kind : std::uint8_t { number, samples, add, multiply, divide, remainder, largest, smallest, of_value };
  kind what = kind::number;
  std::int64_t number = 0;                  ///< a number; of_value: the dimension
  std::string value{};                      ///< of_value: whose size
  std::vector<size_expression> operands{};  ///< two, of the operations

  bool operator==(const size_expression&) const = default;
};

/// The size of a dimension of a value of the layer.
using size_of_value = std::function<std::int64_t(const std::string& value, std::int64_t dimension)>;

/// Division rounds down, and a remainder has the sign of the divisor. `values` may be null if the expression names
/// none. Throws fault_error{bad_input} if a result does not fit into 64 bits, or for a division by zero.
std::int64_t evaluate(const size_expression& size, std::int64_t samples, const size_of_value& values = {});

std::vector<std::int64_t> evaluate(const std::vector<size_expression>& sizes, std::int64_t samples);

/// The sizes of one sample, where the first size is the number of samples, and no other depends on it; else none.
std::optional<std::vector<std::int64_t>> sizes_of_sample(const std::vector<size_expression>& sizes);

/// True if the size of a value is in it: it is not known before the values are.
bool depends_on_data(const size_expression& size);

}  // namespace hydra
