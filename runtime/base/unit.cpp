#include "runtime/base/unit.hpp"

#include "runtime/base/hash.hpp"

namespace hydra {

bool same_visit(const unit& a, const unit& b) noexcept {
  unit other = b;
  other.attempt = a.attempt;
  return a == other;
}

std::string to_string(direction d) {
  switch (d) {
    case direction::forward:
      return "forward";
    case direction::backward:
      return "backward";
    case direction::evaluate:
      return "evaluate";
  }
  return "unknown direction";
}

std::string to_string(const unit& u) {
  const auto part = [](const char* name, std::uint32_t value) { return name + std::to_string(value); };
  std::string text = part("model ", u.model.value);
  if (u.replica.value != 0) text += part(" replica ", u.replica.value);
  if (u.wave.value != 0) text += part(" wave ", u.wave.value);
  text += part(" step ", u.step.value) + " " + to_string(u.way) + part(" ", u.shard.value);
  if (u.first_micro_batch.value != 0) text += part(" from micro-batch ", u.first_micro_batch.value);
  if (u.attempt != 0) text += part(" attempt ", u.attempt);
  return text;
}

}  // namespace hydra

std::size_t std::hash<hydra::unit>::operator()(const hydra::unit& u) const noexcept {
  return hydra::hash_of(u.model.value, u.replica.value, u.wave.value, u.piece.value, u.step.value, u.way, u.shard.value,
                        u.first_micro_batch.value, u.micro_batches, u.attempt);
}
