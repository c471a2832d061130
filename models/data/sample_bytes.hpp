#pragma once
// Raw sample bytes as typed values.

#include "runtime/base/fault.hpp"

#include <cstddef>
#include <span>

namespace hydra {

/// The bytes as `count` values of T. Throws fault_error{internal} if the size does not match.
template <class T>
std::span<T> values_in(std::span<std::byte> bytes, std::size_t count) {
  if (bytes.size() != count * sizeof(T)) throw fault_error{fault_code::internal, "a sample has another size"};
  return {reinterpret_cast<T*>(bytes.data()), count};
}

}  // namespace hydra
