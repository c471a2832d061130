#pragma once
// NVIDIA's management library, if installed: it tells of a GPU without creating a context.

#include "runtime/base/bytes.hpp"

#include <memory>
#include <optional>
#include <string>

namespace hydra {

/// One GPU, of all processes together. Nothing is known if the library is not available. Thread-safe.
class managed_gpu {
 public:
  /// `bus`: "0000:01:00.0".
  explicit managed_gpu(const std::string& bus);

  std::optional<byte_count> memory_in_use() const noexcept;
  /// Energy since the driver was loaded; GPUs before Volta do not count it.
  std::optional<double> joules() const noexcept;

 private:
  std::shared_ptr<void> library_;  ///< null: nothing is known
  void* gpu_ = nullptr;            ///< its handle
};

}  // namespace hydra
