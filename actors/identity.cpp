#include "actors/identity.hpp"

#include "partition/pilot.hpp"

#include <fmt/format.h>

#include <sstream>

namespace hydra {

namespace {

std::string text_of(const update_options& o) {
  const auto& s = o.schedule;
  return fmt::format(
      "optimizer: {} learning_rate {} weight_decay {} betas {} {} eps {} momentum {} nesterov {} clip_norm {}\n"
      "schedule: {} warmup {} floor {}\n",
      o.kind == update_kind::adamw ? "adamw" : "sgd", o.learning_rate, o.weight_decay, o.beta1, o.beta2, o.eps, o.momentum,
      o.nesterov, o.clip_norm, static_cast<int>(s.kind), s.warmup, s.floor);
}

}  // namespace

std::string identity_of(const model_description& m, const prepared_model& p, std::uint64_t seed) {
  const auto samples = std::int64_t{m.batch_size / m.micro_batches};
  const auto& source = *p.data.source;
  return fmt::format("chain: {}\n", fingerprint(*p.model, source.sample_target(), samples)) +
         fmt::format("data: {}\nshuffle: {}\ntraining samples: {}\n", source.describe(), p.data.order.shuffle,
                     p.data.order.samples) +
         fmt::format("batch_size: {}\nmicro_batches: {}\nsteps: {}\nseed: {}\n", m.batch_size, m.micro_batches, p.steps,
                     m.seed.value_or(seed)) +
         fmt::format("validation: every {} steps, {} micro-batches\n",
                     m.validate.value_or(validation_options{}).every_steps, p.evaluation) +
         text_of(m.optimizer);
}

std::string difference_of(const std::string& saved, const std::string& now) {
  std::istringstream a(saved);
  std::istringstream b(now);
  for (std::string x, y; std::getline(a, x) && std::getline(b, y);) {
    if (x != y) {
      return fmt::format("{} (saved), {} (now)", x, y);
    }
  }
  return saved == now ? "" : "what was saved says more or less than what is known now";
}

}  // namespace hydra
