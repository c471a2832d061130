#include "partition/execute/kept_parameters.hpp"

#include "models/weights/digest.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace hydra {

void kept_parameters::keep(model_id model, std::vector<host_block_ptr> shards) {
  const std::lock_guard lock{mutex_};
  models_.emplace_back(model, std::move(shards));
}

void kept_parameters::shrink_to(byte_count most) {
  const std::lock_guard lock{mutex_};
  while (bytes() > most) {
    models_.erase(models_.begin());
  }
}

std::vector<host_block_ptr> kept_parameters::of(model_id model) const {
  const std::lock_guard lock{mutex_};
  const auto found = std::ranges::find(models_, model, [](const auto& entry) { return entry.first; });
  return found == models_.end() ? std::vector<host_block_ptr>{} : found->second;
}

byte_count kept_parameters::bytes() const {
  byte_count sum;
  for (const auto& [model, shards] : models_) {
    for (const auto& s : shards) {
      sum += host_charge(s->size());
    }
  }
  return sum;
}

std::vector<host_block_ptr> parameters_of(std::span<const shard_home> homes) {
  std::vector<host_block_ptr> all;
  std::ranges::transform(homes, std::back_inserter(all), &shard_home::parameters);
  return all;
}

std::string digest_of(const sharded_model& model, std::span<const host_block_ptr> parameters) {
  if (parameters.empty()) {
    return {};
  }
  digest d;
  for (std::size_t s = 0; s < parameters.size(); ++s) {
    const auto values = std::as_const(*parameters[s]).floats();
    for (const auto& p : model.shards[s].layout().parameters()) {
      if (p.tied_to.empty() && !p.frozen) {
        d.add(values.subspan(p.offset, p.elements));
      }
    }
  }
  return d.finish();
}

}  // namespace hydra
