#pragma once
// The lines that a run adds to its metrics.jsonl.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>

namespace hydra {

class metrics_tail {
 public:
  explicit metrics_tail(std::filesystem::path file) : file_(std::move(file)) {}

  /// The whole lines since the last call, at most about `most` bytes of them, but for those of models in `without`;
  /// empty if the file cannot be read now.
  std::string read(const std::set<std::string>& without = {}, std::size_t most = 1 << 20);

 private:
  std::string whole_lines(std::size_t most);

  std::filesystem::path file_;
  std::uint64_t read_ = 0;
};

}  // namespace hydra
