#pragma once
// SHA-256 (FIPS 180-4) of bytes that are added in pieces.

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace hydra {

/// The result depends only on the bytes, not on how they are divided into pieces. Not copyable.
class sha256 {
 public:
  sha256();
  ~sha256();
  void add(std::span<const std::byte> bytes);
  /// 64 hex digits, lower case. The object cannot be used afterwards.
  std::string finish();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace hydra
