#pragma once
// Limits of one rendering: a template may be anyone's. Standard library only.

#include "models/jinja/complaint.hpp"

#include <cstddef>
#include <cstdint>

namespace hydra::jinja {

inline constexpr std::uint64_t most_steps = 10'000'000;
inline constexpr std::uint64_t most_bytes = std::uint64_t{256} << 20;  ///< all texts and lists that are made together
inline constexpr int deepest_call = 400;                               ///< expressions and blocks within each other
inline constexpr int deepest_value = 60;                               ///< lists and mappings within each other

class budget {
 public:
  void take_steps(std::uint64_t count = 1) {
    steps_ += count;
    if (steps_ > most_steps) complain("the template takes more than 10 million steps; does a loop not end?");
  }
  void take_bytes(std::uint64_t count) {
    bytes_ += count;
    if (bytes_ > most_bytes) complain("the template makes more than 256 MiB of texts and lists");
  }
  /// Of a search for `what` bytes in `text`: at worst both are compared again and again.
  void take_search(std::uint64_t text, std::uint64_t what) { take_steps(1 + text * (what + 1) / 4096); }

  /// One level of recursion, as long as it lives.
  class level {
   public:
    explicit level(budget& of) : of_(of) {
      if (++of_.depth_ > deepest_call) {
        --of_.depth_;
        complain("the template calls itself, or has expressions within each other, more than 400 levels deep");
      }
    }
    level(const level&) = delete;
    level& operator=(const level&) = delete;
    ~level() { --of_.depth_; }

   private:
    budget& of_;
  };

 private:
  std::uint64_t steps_ = 0, bytes_ = 0;
  int depth_ = 0;
};

}  // namespace hydra::jinja
