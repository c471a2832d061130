#include "actors/memory/shared_steps.hpp"

#include "models/chain.hpp"
#include "models/parameter_layout.hpp"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <utility>

namespace hydra {

namespace {

/// Of a step first the losses, then the layers as backward visits reach them.
std::uint64_t number_of(const sharded_model& what, step_index step, std::optional<std::size_t> layer = {}) {
  const std::uint64_t layers = what.plan.shards.back().last_layer;
  return step.value * (layers + 1) + (layer ? layers - *layer : 0);
}

/// Gradients of a layer in a shard's sum, in words of 32 bits, padding included: as many in all cuts.
struct layer_words {
  std::size_t layer = 0;
  std::size_t first = 0;
  std::size_t count = 0;
};

/// In the order of the layers; those without gradients are left out.
std::vector<layer_words> words_of_layers(const sharded_model& what, shard_index shard) {
  const auto& layout = what.shards[shard.value].layout();
  const auto words = [&](std::size_t elements) {
    return what.model->gradients() == precision::bf16 ? elements / 2 : elements;
  };
  std::vector<layer_words> all;
  for (const auto& p : layout.parameters()) {
    if (!p.frozen && (all.empty() || all.back().layer != p.layer)) {
      all.push_back({p.layer, words(p.offset), words(layout.elements() - p.offset)});
    }
  }
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    all[i].count = all[i + 1].first - all[i].first;
  }
  return all;
}

}  // namespace

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
  exchange(what, number_of(what, u.step), false, std::move(replicas), values);
}

void shared_steps::add_sums(model_id model, shard_index shard, step_index step, const sharded_model& what,
                            shard_home home) {
  const bool adds = what.plan.gathered_sums == 0;
  const auto own = std::exchange(home.gradients, std::vector<host_block_ptr>(what.share.of));
  std::ranges::copy(own, home.gradients.begin() + what.share.first);
  for (auto& sum : home.gradients) {
    if (!sum && !adds) {
      sum = arena_.allocate(what.plan.shards[shard.value].gradient_bytes(), "gradients of " + what.name,
                            host_use::transferred);
    }
  }
  const auto sums = home.gradients;
  if (adds) {
    home.gradients = {own.front()};
  }
  const auto values = std::make_shared<exchanged_values>(
      exchanged_values{.model = model, .step = step, .shard = shard, .home = std::move(home)});
  for (const auto& words : words_of_layers(what, shard) | std::views::reverse) {
    std::vector<std::span<float>> replicas;
    std::ranges::transform(sums, std::back_inserter(replicas), [&](const host_block_ptr& sum) {
      return sum ? sum->floats().subspan(words.first, words.count) : std::span<float>{};
    });
    exchange(what, number_of(what, step, words.layer), adds, std::move(replicas), values);
  }
  if (values->missing == 0) {  // it has no parameters
    open_[++last_ticket_] = values;
    values->missing = 1;
    answers_({last_ticket_, {}});
  }
}

void shared_steps::exchange(const sharded_model& what, std::uint64_t number, bool adds,
                            std::vector<std::span<float>> replicas, const std::shared_ptr<exchanged_values>& values) {
  const auto ticket = ++last_ticket_;
  open_[ticket] = values;
  ++values->missing;
  partners_->exchange({.model = what.name,
                       .team = what.share.team,
                       .number = number,
                       .adds = adds,
                       .replicas = std::move(replicas),
                       .done = [answers = answers_, ticket, values](const fault& why) {
                         answers({ticket, why});
                       }});
}

std::optional<exchanged_values> shared_steps::take(const values_exchanged& answer) {
  const auto found = open_.extract(answer.ticket);
  const bool last = found && !answer.why && --found.mapped()->missing == 0;
  return last ? std::optional(std::move(*found.mapped())) : std::nullopt;
}

void shared_steps::forget(model_id model) {
  losses_.erase(model);
  std::erase_if(open_, [&](const auto& entry) { return entry.second->model == model; });
}

}  // namespace hydra
