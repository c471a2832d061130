#include "apps/bench/spilling.hpp"

#include "actors/report/text_table.hpp"
#include "actors/session/session.hpp"
#include "apps/bench/plain_loop.hpp"
#include "models/families/gpt2/gpt2.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace hydra::apps {

namespace {

using namespace literals;

model_description model_of(const spilling_options& o) {
  return {.name = "gpt",
          .chain = gpt2({.layers = o.layers, .width = o.width, .heads = o.heads, .context = o.context}),
          .data = {synthetic_language{.symbols = 64, .validation_tokens = 2 * o.context + 1}},
          .batch_size = o.batch_size,
          .steps = o.steps,
          .optimizer = adamw({.learning_rate = 1e-3})};
}

struct measured_run {
  report result;
  workload_plan plan;
};

measured_run run(const spilling_options& o, byte_count memory, byte_rate link, cut_choice cuts = {}) {
  session s{{.seed = 7, .name = "bench", .log = verbosity::quiet}};
  s.add_devices(1, cpu_device{.memory = memory, .link = link});
  auto m = model_of(o);
  m.cuts = std::move(cuts);
  s.add_model(m);
  auto plan = s.plan();
  auto r = s.run();
  if (!r.all_finished()) throw fault_error{fault_code::internal, "the model of the benchmark has failed"};
  return {std::move(r), std::move(plan)};
}

workload_plan plan_for(const spilling_options& o, byte_count memory) {
  session s{{.seed = 7, .name = "bench", .log = verbosity::quiet}};
  s.add_devices(1, cpu_device{.memory = memory});
  s.add_model(model_of(o));
  return s.plan();
}

/// Of the steps, without what comes before and after them.
double seconds_of(const report& r) { return seconds(r.models.front().elapsed); }

byte_rate link_of(const workload_plan& plan, double ratio) {
  if (ratio == 0) return {};
  byte_count promoted;
  duration computed{};
  const auto& shards = plan.models.front().shards;
  for (const shard_plan& s : shards) {
    const bool last = &s == &shards.back();
    promoted += s.parameters * (last ? 1 : 2);
    computed += s.backward_time + (last ? duration{} : s.forward_time);
  }
  return byte_rate{static_cast<double>(promoted.value()) / (ratio * seconds(computed))};
}

/// 0 of a model in one shard, which computes nothing again.
double saved_share(const device_report& d) {
  const auto all = static_cast<double>(d.saved + d.recomputed);
  return all > 0 ? static_cast<double>(d.saved) / all : 0;
}

/// Without recomputation a step would take as long as in one shard.
double most_of(const workload_plan& plan, double saved) {
  double again = 0, step = 0;
  const auto& shards = plan.models.front().shards;
  for (const shard_plan& s : shards) {
    again += &s == &shards.back() ? 0 : seconds(s.forward_time);
    step += seconds(s.backward_time);
  }
  return step / (step + again * (1 - saved));
}

}  // namespace

spilling_result measure_spilling(const spilling_options& o) {
  constexpr byte_count plenty = 8_GiB;
  spilling_result r;
  const workload_plan small = plan_for(o, plenty);
  r.resident_memory = small.staging_bytes + small.computing_bytes;
  const workload_plan middle = plan_for(o, small.sufficient * 2);
  for (const double ratio : o.ratios)
    for (const double memory : o.memory)
      r.cells.push_back(
          {.memory = byte_count{static_cast<std::uint64_t>(static_cast<double>(small.sufficient.value()) * memory)},
           .ratio = ratio,
           .link = link_of(middle, ratio),
           .over_resident = {}});
  for (int repeat = 0; repeat < o.repeats; ++repeat) {
    const double plain = seconds(train_plainly(model_of(o), o.steps));
    const double resident = seconds_of(run(o, plenty, {}, cut_points{0}).result);
    r.resident_over_plain.values.push_back(plain / resident);
    for (spilling_cell& cell : r.cells) {
      const measured_run spilled = run(o, cell.memory, cell.link);
      cell.shards = spilled.plan.models.front().shards.size();
      cell.saved = saved_share(spilled.result.devices.front());
      cell.most = most_of(spilled.plan, cell.saved);
      cell.over_resident.values.push_back(resident / seconds_of(spilled.result));
    }
  }
  return r;
}

std::string to_table(const spilling_result& r) {
  text_table t{{{"memory", alignment::right},
                {"promote/unit", alignment::right},
                {"link", alignment::right},
                {"shards", alignment::right},
                {"saved", alignment::right},
                {"speed/resident median [min..max]", alignment::right},
                {"recomputation leaves", alignment::right}}};
  for (const spilling_cell& c : r.cells)
    t.add({to_string(c.memory), c.ratio > 0 ? fmt::format("{:g}", c.ratio) : "-", c.ratio > 0 ? to_string(c.link) : "-",
           std::to_string(c.shards), fmt::format("{:.0f} %", c.saved * 100), to_string(c.over_resident),
           fmt::format("{:.3f}", c.most)});
  return fmt::format("in one shard the model needs {}; speed / plain LibTorch loop {}\n\n",
                     to_string(r.resident_memory), to_string(r.resident_over_plain)) +
         t.to_string();
}

nlohmann::ordered_json json_of(const spilling_result& r) {
  nlohmann::ordered_json j{{"resident_memory_bytes", r.resident_memory.value()},
                           {"resident_over_plain", json_of(r.resident_over_plain)},
                           {"cells", nlohmann::ordered_json::array()}};
  for (const spilling_cell& c : r.cells)
    j["cells"].push_back({{"memory_bytes", c.memory.value()},
                          {"promote_over_unit", c.ratio},
                          {"shards", c.shards},
                          {"saved", c.saved},
                          {"most", c.most},
                          {"over_resident", json_of(c.over_resident)}});
  return j;
}

}  // namespace hydra::apps
