#pragma once
// A language model that generates text, token by token, on a device whose memory it may exceed.

#include "models/chain.hpp"
#include "partition/inference/decode_plan.hpp"
#include "runtime/device/device.hpp"
#include "runtime/memory/host_arena.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace hydra {

struct decoder_options {
  decode_lengths lengths;
  std::uint64_t seed = 0;  ///< of a chain without weights of its own
  duration stall_limit = std::chrono::minutes(10);  ///< a device that completes nothing for so long counts as lost
};

/// Parameters that the plan keeps are copied to the device once, layer by layer; the others are on the host and are
/// copied one layer after the other for every token, the next one while one computes. Logits do not depend on the plan.
/// For one thread.
class decoder {
 public:
  /// Becomes the receiver of the device's completions. Throws fault_error{does_not_fit} before the first byte is taken
  /// from the device, {bad_input} if the chain cannot generate text of that length, {out_of_memory} if the host's arena
  /// is too small. Operations that are under way at its end share the arena; they end with the device.
  decoder(std::shared_ptr<const chain> model, const decoder_options& options, device& on,
          std::shared_ptr<host_arena> home);
  ~decoder();
  decoder(const decoder&) = delete;
  decoder& operator=(const decoder&) = delete;

  /// Logits of the token that follows, after these tokens have followed those before. Throws fault_error{bad_input} if
  /// the text becomes longer than planned or an id is beyond the vocabulary; else what an operation of the device
  /// threw, or {device_lost} if it hangs.
  std::vector<float> next(std::span<const std::int64_t> ids);
  /// Forgets the text.
  void restart();

  const decode_plan& plan() const noexcept;

 private:
  class state;
  std::unique_ptr<state> state_;
};

}  // namespace hydra
