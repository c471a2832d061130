#include "tests/support/small_models.hpp"

#include "models/data/data_catalog.hpp"

namespace hydra::test {

small_model small_gpt(const gpt2_options& options) {
  auto data =
      open_data({synthetic_language{.symbols = 11, .order = 1, .tokens = 2000, .validation_tokens = 0, .seed = 3}},
                options.context);
  auto body = std::make_shared<const chain>(gpt2(options).build(*data));
  return {data, std::move(body)};
}

small_model small_mlp(const mlp_options& options) {
  auto data = open_data({synthetic_classes{.features = 8, .classes = 3, .samples = 64, .validation_samples = 0}}, 0);
  auto body = std::make_shared<const chain>(mlp(options).build(*data));
  return {data, std::move(body)};
}

small_model small_cnn(const cnn_options& options) {
  auto data =
      open_data({synthetic_classes{.shape = {2, 8, 8}, .classes = 3, .samples = 64, .validation_samples = 0}}, 0);
  auto body = std::make_shared<const chain>(cnn(options).build(*data));
  return {data, std::move(body)};
}

small_model rounded(const small_model& m, precision gradients) {
  chain body = *m.body;
  return {m.data, std::make_shared<const chain>(body.compute_in(precision::bf16, gradients))};
}

chain_profile profile_of(const chain& model, const tensor_spec& sample_target, std::int64_t samples) {
  const auto meter = make_host_meter();
  const auto one = sample_costs(model, {sample_target, samples, 1}, {*meter});
  return merge({&one, 1});
}

chain_profile profile_of(const small_model& m, std::int64_t samples) {
  return profile_of(*m.body, m.data->sample_target(), samples);
}

std::shared_ptr<sharded_model> cut_model(const small_model& m, const shard_options& options) {
  const auto profile = profile_of(m, options.samples);
  const plan_request request{.name = "small",
                             .model = m.body.get(),
                             .profile = &profile,
                             .micro_batches = options.micro_batches,
                             .rule = options.update,
                             .cuts = options.cuts};
  const device_info device{.name = "large", .memory = byte_count{1ull << 50}};
  auto result =
      std::make_shared<sharded_model>(make_sharded(m.body, make_plan({&request, 1}, {&device, 1}).models.front()));
  result->update = options.update;
  result->steps = 3;
  result->seed = 1;
  return result;
}

std::vector<shard_home> make_homes(const sharded_model& m, host_arena& arena) {
  std::vector<shard_home> homes;
  for (std::size_t s = 0; s < m.size(); ++s) {
    homes.push_back(make_home(arena, m, s));
    m.shards[s].layout().initialise(homes.back().parameters->floats(), *m.model, m.seed);
    round_masters(homes.back());
  }
  return homes;
}

unit visit_of(const sharded_model& m, direction way, std::uint32_t shard) {
  unit u;
  u.way = way;
  u.shard = shard_index{shard};
  u.micro_batches = m.plan.micro_batches;
  return u;
}

}  // namespace hydra::test
