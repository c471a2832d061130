#include "actors/admission/memory_check.hpp"

#include "models/lora.hpp"
#include "partition/plan/least_memory.hpp"
#include "runtime/base/fault.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

namespace hydra {

namespace {

least_memory needs_of(const model_description& m, const chain& model, const update_options& rule,
                      std::size_t devices) {
  const auto all = m.replicas_until.empty() ? m.parallel.replicas : 1;  // those that meet have fewer sums
  const auto replicas = m.share.whole() ? all : m.share.replicas;
  return least_memory_of(model, rule, replicas, devices);
}

/// Other settings of the model, as a workload file has them.
struct other_settings {
  std::string keys;
  chain model;
  update_options rule;
};

bool can_be_adapted(const chain& model) {
  return model.weights() && model.pieces() == 1 && !model.has_frozen() && !all_linear_modules(model).empty();
}

std::vector<other_settings> alternatives(const model_description& m, const chain& model) {
  std::vector<other_settings> all;
  if (m.evaluate_only) {
    return all;
  }
  if (m.optimizer.kind == update_kind::adamw) {
    all.push_back({"optimizer = { kind = \"adamw8bit\", ... }", model, m.optimizer});
    all.back().rule.kind = update_kind::adamw8bit;
  }
  const auto* const adapter = "adapter = { kind = \"lora\", rank = 16 }";
  if (can_be_adapted(model)) {
    auto adapted = adapt(model, {.rank = 16});
    all.push_back({adapter, adapted, m.optimizer});
    all.push_back({fmt::format("{} and base = \"nf4\"", adapter), adapted.store_base(base_format::nf4), m.optimizer});
  } else if (model.has_frozen() && model.pieces() == 1 && !model.has_fixed() && model.base() != base_format::nf4) {
    all.push_back({"base = \"nf4\"", chain(model).store_base(base_format::nf4), m.optimizer});
  }
  return all;
}

/// `own`: what it needs with its settings.
std::string advice(const model_description& m, const chain& model, byte_count own, byte_count host,
                   std::size_t devices) {
  std::vector<std::string> fitting, others;
  for (const auto& other : alternatives(m, model)) {
    const auto needed = needs_of(m, other.model, other.rule, devices).host();
    if (needed < own) {
      (needed <= host ? fitting : others).push_back(fmt::format("{} (at least {})", other.keys, to_string(needed)));
    }
  }
  const auto* const replicas = m.parallel.replicas > 1 ? ", fewer replicas" : "";
  if (!fitting.empty()) {
    return fmt::format("what would fit: {}; or give the run more memory{}", fmt::join(fitting, "; "), replicas);
  }
  return fmt::format("give the run more memory{}, or make the model smaller{}{}", replicas,
                     others.empty() ? "" : "; these need less, but still too much: ", fmt::join(others, "; "));
}

}  // namespace

void check_least_memory(const model_description& m, const chain& model, byte_count host, std::size_t devices) {
  const auto needs = needs_of(m, model, m.optimizer, devices);
  if (needs.host() > host) {
    throw fault_error(
        fault_code::does_not_fit,
        fmt::format("model '{}' alone needs at least {} ({} bytes) of host memory for its {} parameters ({}), their "
                    "gradients ({}) and the optimizer's state ({}), but [host] memory allows {}: {}",
                    m.name, to_string(needs.host()), needs.host().value(), model.parameter_count(),
                    to_string(needs.parameters), to_string(needs.gradients), to_string(needs.state), to_string(host),
                    advice(m, model, needs.host(), host, devices)));
  }
}

}  // namespace hydra
