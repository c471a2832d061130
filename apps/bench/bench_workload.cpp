#include "apps/bench/bench_workload.hpp"

#include "apps/bench/paced_layer.hpp"
#include "models/layers/linear.hpp"
#include "models/lora.hpp"
#include "models/loss.hpp"

#include <fmt/format.h>

#include <utility>

namespace hydra::apps {

namespace {

using hydra::to_string;  // beside those of apps

using namespace literals;

/// The hidden layers and the output layer, so many for each shard.
cut_points equal_cuts(const bench_workload& w) {
  cut_points cuts;
  for (std::int64_t first = 0; first <= w.layers; first += w.layers_per_shard)
    cuts.push_back(static_cast<std::size_t>(first));
  return cuts;
}

/// A backward visit takes 3 times the forward time, both visits of a shard 4 times. The last shard has the backward
/// visit alone: for n layers, 3 * ((n - 1) * forward + last) = 4 * n * forward.
duration last_forward(const bench_workload& w) {
  if (!w.paced_output) return {};
  return w.equal_stages ? w.forward * (w.layers_per_shard + 3) / 3 : w.forward;
}

/// A multi-layer perceptron of paced layers.
chain_description paced_mlp(const bench_workload& w) {
  const auto build = [w](const data_source& data) {
    chain all{"paced mlp", data.sample_input(), cross_entropy()};
    for (std::int64_t i = 0; i <= w.layers; ++i) {
      const bool last = i == w.layers;
      const linear_options options{.in = w.width, .out = last ? data.classes() : w.width, .gelu = !last};
      all.add(fmt::format("layers.{}.", i),
              std::make_shared<paced_layer>(std::make_shared<linear>(options), last ? last_forward(w) : w.forward));
    }
    if (w.pieces > 1) all.divide(w.pieces, w.side_by_side);
    return w.adapter_rank > 0 ? adapt(std::move(all), {.rank = w.adapter_rank}) : all;
  };
  return {"paced mlp", 0, build};
}

model_description model_of(const bench_workload& w, int i) {
  return {.name = fmt::format("model-{}", i),
          .chain = paced_mlp(w),
          .data = {synthetic_classes{.features = w.width, .validation_samples = w.validation_samples}},
          .batch_size = w.batch_size,
          .micro_batches = w.micro_batches,
          .parallel = w.parallel,
          .steps = w.steps,
          .optimizer = adamw({.learning_rate = 1e-3 / (1 + i)}),
          .cuts = w.pieces > 1 ? cut_choice{} : equal_cuts(w),
          .validate = w.evaluate_every > 0 ? std::optional{validation_options{.every_steps = w.evaluate_every}}
                                           : std::nullopt};
}

session_options silent(const bench_workload& w) {
  return {.seed = 7, .name = "bench", .log = verbosity::quiet, .ablation = w.ablation};
}

/// A forward unit for each shard but the last, a backward unit for each.
duration unit_times(const model_plan& m) {
  duration sum = m.shards.back().backward_time;
  for (std::size_t s = 0; s + 1 < m.shards.size(); ++s) sum += m.shards[s].forward_time + m.shards[s].backward_time;
  return sum;
}

std::uint64_t promoted_bytes(const model_plan& m) {
  byte_count sum;
  for (const shard_plan& s : m.shards) sum += (s.base + s.parameters) * (&s == &m.shards.back() ? 1 : 2);
  return sum.value();
}

}  // namespace

void fill(session& s, const bench_workload& w) {
  s.add_devices(w.devices, cpu_device{.memory = w.memory > 0_B ? w.memory : 4_GiB, .link = w.link});
  for (int i = 0; i < w.models; ++i) s.add_model(model_of(w, i));
  if (!w.policy.empty()) s.use_policy(w.policy);
}

report run_bench(const bench_workload& w) {
  session s{silent(w)};
  fill(s, w);
  return s.run();
}

report run_to_its_end(const bench_workload& w) {
  report r = run_bench(w);
  if (!r.all_finished()) throw fault_error{fault_code::internal, "a model of the benchmark has failed"};
  return r;
}

forecast predict_bench(const bench_workload& w) {
  session s{silent(w)};
  fill(s, w);
  return s.predict();
}

std::string heading(const bench_plan& p) {
  return fmt::format("device memory {}, mean unit {}, mean promote {}\n\n", to_string(p.memory), to_string(p.mean_unit),
                     to_string(p.mean_promote));
}

bench_plan plan_bench(const bench_workload& w) {
  session s{silent(w)};
  fill(s, w);
  const workload_plan& plan = s.plan();
  const model_plan& m = plan.models.front();
  const std::uint64_t units = 2 * m.shards.size() - 1;
  const auto mean = seconds(unit_times(m)) / static_cast<double>(units);
  return {plan.sufficient, plan.sufficient * 2, from_seconds(mean),
          byte_count{promoted_bytes(m) / units}};
}

byte_rate link_for(const bench_plan& p, double ratio) {
  return byte_rate{static_cast<double>(p.mean_promote.value()) / (ratio * seconds(p.mean_unit))};
}

}  // namespace hydra::apps
