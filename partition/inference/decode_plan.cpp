#include "partition/inference/decode_plan.hpp"

#include "models/decode_memory.hpp"
#include "models/parameter_layout.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/device/cpu/accounting_allocator.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/zeros_ops.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>

namespace hydra {

namespace {

at::Tensor zeros(const tensor_spec& spec, const measurement_context& on) {
  return at::_ops::zeros::call(c10::fromIntArrayRefSlow(spec.shape), spec.type == element::f32 ? at::kFloat : at::kLong,
                               std::nullopt, at::Device(on.torch_device), std::nullopt);
}

byte_count bytes_of(const decode_memory& memory) {
  byte_count sum;
  for (const auto& t : memory.tensors) {
    sum += charged_bytes(byte_count{t.nbytes()});
  }
  return sum;
}

/// One layer that decodes zeros.
class decode_bench {
 public:
  decode_bench(const chain& model, std::size_t layer, tensor_spec input, const measurement_context& on)
      : on_(on), body_(*model.at(layer).body), input_(std::move(input)) {
    const parameter_layout layout(model, layer, layer + 1);
    parameters_ = layout.views(zeros({{static_cast<std::int64_t>(layout.elements())}, element::f32}, on_), layer);
  }

  /// Peak of decoding `tokens` more, input included, beyond what was in use before and what `memory` has grown by.
  byte_count decode(std::int64_t tokens, decode_memory& memory) {
    const auto before = on_.meter.used();
    const auto kept = bytes_of(memory);
    on_.meter.reset_peak();
    tensor_spec spec = input_;
    spec.shape[1] = tokens;
    body_.decode(parameters_, zeros(spec, on_), {.training = false}, memory).contiguous();
    const auto grown = bytes_of(memory);
    return on_.meter.peak() - before - (grown > kept ? grown - kept : byte_count{});
  }

 private:
  const measurement_context& on_;
  const layer& body_;
  tensor_spec input_;
  std::vector<at::Tensor> parameters_;
};

/// While memory grows it may be there twice.
decode_cost measure(decode_bench bench, byte_count parameters, const decode_lengths& lengths) {
  decode_cost cost{.parameters = parameters, .memory = {}, .working = {}};
  decode_memory memory;
  cost.working = bench.decode(lengths.prompt, memory);
  if (lengths.longest > lengths.prompt) {
    memory = {};
    bench.decode(lengths.longest, memory);
    memory.seen = lengths.longest - 1;
    cost.working = std::max(cost.working, bench.decode(1, memory) + bytes_of(memory));
  }
  cost.memory = bytes_of(memory);
  return cost;
}

/// The largest sum of `count` neighbours in a circle.
byte_count largest_window(std::span<const byte_count> circle, std::size_t count) {
  byte_count largest;
  for (std::size_t i = 0; i < circle.size(); ++i) {
    byte_count sum;
    for (std::size_t k = 0; k < count; ++k) {
      sum += circle[(i + k) % circle.size()];
    }
    largest = std::max(largest, sum);
  }
  return largest;
}

byte_count parameters_on_device(const decode_plan& plan, std::span<const decode_cost> costs) {
  byte_count sum;
  std::vector<byte_count> streamed;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    if (plan.resident[i]) {
      sum += costs[i].parameters;
    } else {
      streamed.push_back(costs[i].parameters);
    }
  }
  return sum + largest_window(streamed, plan.buffers);
}

byte_count memory_on_device(const decode_plan& plan, std::span<const decode_cost> costs) {
  std::vector<byte_count> remembered;
  for (const auto& c : costs) {
    if (c.memory > byte_count{}) {
      remembered.push_back(c.memory);
    }
  }
  if (plan.memory_resident) {
    return std::accumulate(remembered.begin(), remembered.end(), byte_count{});
  }
  return largest_window(remembered, plan.buffers);
}

/// Layers by descending bytes.
std::vector<std::size_t> largest_first(std::span<const decode_cost> costs) {
  std::vector<std::size_t> order(costs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return costs[i].parameters; });
  return order;
}

void keep_what_fits(decode_plan& plan, std::span<const decode_cost> costs, byte_count usable) {
  for (const std::size_t i : largest_first(costs)) {
    plan.resident[i] = true;
    plan.resident[i] = needed_by(plan, costs) <= usable;
  }
  plan.needed = needed_by(plan, costs);
}

}  // namespace

std::vector<decode_cost> decode_costs(const chain& model, const decode_lengths& lengths,
                                      const measurement_context& on) {
  std::map<std::string, decode_cost> known;
  std::vector<decode_cost> costs;
  tensor_spec input{{1, lengths.longest}, element::i64};
  for (std::size_t i = 0; i < model.size(); ++i) {
    const bool last = i + 1 == model.size();
    const std::string key = model.at(i).body->signature() + " on " + to_string(input);
    const auto found = known.find(key);
    if (found != known.end()) {
      costs.push_back(found->second);
    } else {
      const auto parameters = charged_bytes(parameter_layout(model, i, i + 1).bytes());
      costs.push_back(measure({model, i, input, on}, parameters, last ? decode_lengths{} : lengths));
    }
    known.emplace(key, costs.back());
    input = model.at(i).body->output(input);
  }
  return costs;
}

byte_count needed_by(const decode_plan& plan, std::span<const decode_cost> costs) {
  byte_count working;
  for (const auto& c : costs) {
    working = std::max(working, c.working);
  }
  return parameters_on_device(plan, costs) + memory_on_device(plan, costs) + working;
}

decode_plan plan_decoding(std::span<const decode_cost> costs, byte_count usable) {
  decode_plan plan;
  for (const std::size_t buffers : {2, 1}) {
    for (const bool memory_resident : {true, false}) {
      plan = {.resident = std::vector<bool>(costs.size()),
              .buffers = buffers,
              .memory_resident = memory_resident,
              .needed = {}};
      keep_what_fits(plan, costs, usable);
      if (plan.needed <= usable) {
        return plan;
      }
    }
  }
  throw fault_error(
      fault_code::does_not_fit,
      fmt::format("one layer at a time with what it remembers and computes takes {} on the device; {} can be "
                  "used there: give it more memory, or write shorter texts",
                  to_string(plan.needed), to_string(usable)));
}

}  // namespace hydra
