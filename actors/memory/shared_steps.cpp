#include "actors/memory/shared_steps.hpp"

#include <algorithm>
#include <utility>

namespace hydra {

shared_steps::shared_steps(step_partners* partners, host_arena& arena, answer_sink answers)
    : partners_(partners), arena_(arena), answers_(std::move(answers)) {}

void shared_steps::add_losses(const unit& u, const sharded_model& what, const std::vector<float>& losses) {
  auto& open = losses_[u.model];
  if (!open.values) {
    open.values = std::make_shared<exchanged_values>(exchanged_values{.model = u.model, .step = u.step});
    open.values->losses.resize(what.micro_batches_of_step());
  }
  const auto first = what.first_micro_batch() + u.first_micro_batch.value;
  std::ranges::copy(losses, open.values->losses.begin() + first);
  open.known += losses.size();
  if (open.known < what.plan.micro_batches) {
    return;
  }
  const auto values = losses_.extract(u.model).mapped().values;
  const std::size_t each = what.micro_batches_of_replica();
  std::vector<std::span<float>> replicas;
  for (std::uint32_t r = 0; r < what.share.of; ++r) {
    replicas.push_back(std::span(values->losses).subspan(r * each, each));
  }
  exchange(what, false, std::move(replicas), values);
}

void shared_steps::add_sums(model_id model, shard_index shard, step_index step, const sharded_model& what,
                            shard_home home) {
  const bool adds = what.plan.gathered_sums == 0;
  const auto own = std::exchange(home.gradients, std::vector<host_block_ptr>(what.share.of));
  std::ranges::copy(own, home.gradients.begin() + what.share.first);
  std::vector<std::span<float>> replicas;
  for (auto& sum : home.gradients) {
    if (!sum && !adds) {
      sum = arena_.allocate(what.plan.shards[shard.value].gradient_bytes(), "gradients of " + what.name,
                            host_use::transferred);
    }
    replicas.push_back(sum ? sum->floats() : std::span<float>{});
  }
  if (adds) {
    home.gradients = {own.front()};
  }
  auto values = std::make_shared<exchanged_values>(
      exchanged_values{.model = model, .step = step, .shard = shard, .home = std::move(home)});
  exchange(what, adds, std::move(replicas), std::move(values));
}

void shared_steps::exchange(const sharded_model& what, bool adds, std::vector<std::span<float>> replicas,
                            std::shared_ptr<exchanged_values> values) {
  const auto ticket = ++last_ticket_;
  open_[ticket] = values;
  partners_->exchange({.model = what.name,
                       .adds = adds,
                       .replicas = std::move(replicas),
                       .done = [answers = answers_, ticket, values](const fault& why) {
                         answers({ticket, why});
                       }});
}

std::optional<exchanged_values> shared_steps::take(const values_exchanged& answer) {
  const auto found = open_.extract(answer.ticket);
  return found && !answer.why ? std::optional(std::move(*found.mapped())) : std::nullopt;
}

void shared_steps::forget(model_id model) {
  losses_.erase(model);
  std::erase_if(open_, [&](const auto& entry) { return entry.second->model == model; });
}

}  // namespace hydra
