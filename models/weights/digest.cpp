#include "models/weights/digest.hpp"

#include <bit>

namespace hydra {

static_assert(std::endian::native == std::endian::little, "the digest is defined over little-endian values");

void digest::add(std::span<const float> values) { hash_.add(std::as_bytes(values)); }

std::string digest::finish() { return "sha256:" + hash_.finish(); }

}  // namespace hydra
