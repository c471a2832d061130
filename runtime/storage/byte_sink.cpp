#include "runtime/storage/byte_sink.hpp"

#include "runtime/storage/writable_file.hpp"

#include <algorithm>

namespace hydra {

namespace {

constexpr std::size_t piece_bytes = 1 << 20;  // small enough to be still in the processor's cache when it is written

}  // namespace

void byte_sink::add(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(bytes.size(), piece_bytes));
    hash_.add(piece);
    write(piece);
    bytes = bytes.subspan(piece.size());
  }
}

void byte_sink::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) bytes = bytes.subspan(file_.write(bytes));
}

}  // namespace hydra
