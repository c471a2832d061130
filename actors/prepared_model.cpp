#include "actors/prepared_model.hpp"

#include "runtime/fault.hpp"

#include <fmt/format.h>

#include <utility>

namespace hydra {

namespace {

[[noreturn]] void refuse(const model_description& m, const std::string& why) {
  throw fault_error(fault_code::bad_input, fmt::format("model '{}': {}", m.name, why));
}

/// Everything of a chain that its costs depend on.
std::string fingerprint(const chain& model, const tensor_spec& target, std::int64_t samples) {
  std::string text = fmt::format("{} samples of {} -> {} by {};", samples, to_string(model.sample_input()),
                                 to_string(target), model.objective().name());
  for (std::size_t i = 0; i < model.size(); ++i) {
    text += model.at(i).body->signature() + ";";
  }
  return text;
}

batch_order order_of(const model_description& m, const data_source& source, std::uint64_t seed) {
  const auto samples = source.samples(split::train);
  if (samples < m.batch_size) {
    refuse(m, fmt::format("batch_size: {} has {} training samples, fewer than one batch of {}", source.describe(),
                          samples, m.batch_size));
  }
  return {.samples = samples, .batch_size = m.batch_size, .seed = m.seed.value_or(seed), .shuffle = m.data.shuffle};
}

/// Whole micro-batches of validation data; none if there are none and nobody asked for them.
std::uint32_t evaluation_of(const model_description& m, const data_source& source) {
  const auto samples = source.samples(split::validation);
  const std::size_t each = m.batch_size / m.micro_batches;
  const auto there = static_cast<std::uint32_t>(samples / each);
  if (!m.validate || m.validate->batches == 0) {
    if (m.validate && there == 0) {
      refuse(m, fmt::format("validate: {} has {} validation samples, fewer than one micro-batch of {}",
                            source.describe(), samples, each));
    }
    return there;
  }
  const auto wanted = std::uint64_t{m.validate->batches} * m.micro_batches;
  if (wanted > there) {
    refuse(m, fmt::format("validate.batches: {} has {} validation samples, fewer than {} batches of {}",
                          source.describe(), samples, m.validate->batches, m.batch_size));
  }
  return static_cast<std::uint32_t>(wanted);
}

}  // namespace

void validate(const model_description& m) {
  if (m.name.empty()) {
    refuse(m, "name: must not be empty");
  }
  if (!m.chain.build) {
    refuse(m, "chain: is missing");
  }
  if (m.batch_size == 0) {
    refuse(m, "batch_size: must be at least 1");
  }
  if (m.micro_batches == 0 || m.batch_size % m.micro_batches != 0) {
    refuse(m, fmt::format("micro_batches: {} does not divide batch_size {}", m.micro_batches, m.batch_size));
  }
  if ((m.epochs == 0) == (m.steps == 0)) {
    refuse(m, "give exactly one of epochs and steps, at least 1");
  }
  validate(m.optimizer);
}

prepared_model model_preparer::prepare(const model_description& m) {
  prepared_model p;
  p.data.source = open_data(m.data, m.chain.context);
  p.model = std::make_shared<const chain>(m.chain.build(*p.data.source));
  p.model->validate();
  if (p.model->sample_input() != p.data.source->sample_input()) {
    refuse(m, fmt::format("chain: wants samples {}, but {} has {}", to_string(p.model->sample_input()),
                          p.data.source->describe(), to_string(p.data.source->sample_input())));
  }
  p.data.order = order_of(m, *p.data.source, seed_);
  p.steps = m.steps > 0 ? m.steps : m.epochs * static_cast<std::uint32_t>(p.data.order.batches_per_epoch());
  p.evaluation = evaluation_of(m, *p.data.source);
  p.profile = profile_of(*p.model, p.data.source->sample_target(), m.batch_size / m.micro_batches);
  return p;
}

std::shared_ptr<const chain_profile> model_preparer::profile_of(const chain& model, const tensor_spec& target,
                                                                std::int64_t samples) {
  auto& known = profiles_[fingerprint(model, target, samples)];
  if (!known) {
    const auto start = steady_clock::now();
    known = std::make_shared<const chain_profile>(measure(model, target, samples));
    pilot_time_ += steady_clock::now() - start;
  }
  return known;
}

}  // namespace hydra
