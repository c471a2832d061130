#pragma once
// SHA-256 over parameters: the fingerprint of a training result.

#include "runtime/storage/sha256.hpp"

#include <span>
#include <string>

namespace hydra {

/// Add the parameters in chain order, each as little-endian fp32 without padding; tied copies are left out.
class digest {
 public:
  void add(std::span<const float> values);
  /// "sha256:<64 hex digits>". The digest cannot be used afterwards.
  std::string finish();

 private:
  sha256 hash_;
};

}  // namespace hydra
