#pragma once
// What decides, beside its name, how a parameter is stepped.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>

namespace hydra {

struct parameter_form {
  std::span<const std::int64_t> shape;
  bool hidden = true;  ///< in a layer between the first and the last one of its model

  constexpr std::size_t elements() const noexcept {
    return static_cast<std::size_t>(std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>{}));
  }
};

}  // namespace hydra
