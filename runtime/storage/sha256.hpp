#pragma once
// SHA-256 (FIPS 180-4) of bytes that come in pieces.

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace hydra {

/// The result depends on the bytes alone, not on how they are cut into pieces. Not copyable.
class sha256 {
 public:
  sha256();
  ~sha256();
  void add(std::span<const std::byte> bytes);
  /// 64 hex digits, lower case. Ends the computation.
  std::string finish();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace hydra
