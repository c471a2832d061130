#include "runtime/base/block_id.hpp"

#include "runtime/base/hash.hpp"

namespace hydra {

namespace {

/// Parameters and optimizer state are named by version, everything else by step.
bool has_version(block_kind kind) { return kind == block_kind::parameters || kind == block_kind::state; }

/// Blocks that exist once per shard, not once per micro-batch.
bool is_per_shard(block_kind kind) {
  return has_version(kind) || kind == block_kind::gradients || kind == block_kind::base;
}

std::string numbered(const char* name, std::uint32_t value) { return name + std::to_string(value); }

}  // namespace

std::string to_string(block_kind kind) {
  switch (kind) {
    case block_kind::parameters:
      return "parameters";
    case block_kind::gradients:
      return "gradients";
    case block_kind::activation:
      return "activation";
    case block_kind::upstream:
      return "upstream";
    case block_kind::minibatch:
      return "minibatch";
    case block_kind::targets:
      return "targets";
    case block_kind::loss:
      return "loss";
    case block_kind::state:
      return "state";
    case block_kind::base:
      return "base";
    case block_kind::saved:
      return "saved tensors";
    case block_kind::joined:
      return "joined activations";
    case block_kind::term:
      return "term of upstream";
  }
  return "unknown block kind";
}

std::string to_string(const block_id& id) {
  std::string text = to_string(id.kind) + numbered(" of model ", id.model.value);
  if (id.replica.value != 0) text += numbered(" replica ", id.replica.value);
  text += numbered(" shard ", id.shard.value);
  if (id.kind != block_kind::base) text += numbered(has_version(id.kind) ? " version " : " step ", id.step.value);
  const bool sum = id.kind == block_kind::gradients;
  if (!is_per_shard(id.kind) || id.micro_batch.value != 0)
    text += numbered(sum ? " wave " : " micro-batch ", id.micro_batch.value);
  if (id.pass == pass_kind::evaluation) text += " (evaluation)";
  return text;
}

}  // namespace hydra

std::size_t std::hash<hydra::block_id>::operator()(const hydra::block_id& id) const noexcept {
  return hydra::hash_of(id.model.value, id.replica.value, id.step.value, id.pass, id.kind, id.shard.value,
                        id.micro_batch.value);
}
