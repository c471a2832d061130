#include "apps/workload/device_kinds.hpp"

#include "apps/workload/convert.hpp"

namespace hydra::apps {

namespace {

/// Of every kind whose devices compute in either.
key_rule precision_rule() {
  return {.name = "precision",
          .kind = value_kind::text,
          .help = "of parameters and activations; all devices alike",
          .fallback = "fp32",
          .choices = {"fp32", "bf16"}};
}

precision precision_from(const value_table& keys) {
  std::string name = to_string(precision::fp32);
  assign(keys, "precision", name);
  return name == to_string(precision::bf16) ? precision::bf16 : precision::fp32;
}

device_kind cpu_kind() {
  return {
      "cpu",
      "virtual device: host threads with a memory budget of their own and an emulated link",
      {{.name = "memory", .kind = value_kind::bytes, .help = "budget, enforced", .required = true},
       {.name = "link", .kind = value_kind::rate, .help = "rate of copies, each way", .fallback = "not emulated"},
       {.name = "latency", .kind = value_kind::time, .help = "of each copy", .fallback = "0ms"},
       {.name = "threads", .kind = value_kind::integer, .help = "that compute", .fallback = "1", .range = {1, 1024}},
       {.name = "speed",
        .kind = value_kind::real,
        .help = "the rest is slept after the work",
        .fallback = "1.0",
        .range = {.least = 0, .most = 1, .open_least = true}},
       precision_rule()},
      [](session& s, int count, const value_table& keys) { s.add_devices(count, read_cpu_device(keys)); }};
}

}  // namespace

const std::vector<device_kind>& device_kinds() {
  static const std::vector<device_kind> kinds{cpu_kind()};
  return kinds;
}

table_rules device_rules() {
  table_rules rules{.selector = "kind"};
  for (const device_kind& kind : device_kinds()) rules.variants.push_back({kind.name, kind.keys});
  rules.keys = {
      selector_rule("kind", rules.variants, ""),
      {.name = "count", .kind = value_kind::integer, .help = "how many of these", .fallback = "1", .range = {1, 1024}}};
  return rules;
}

cpu_device read_cpu_device(const value_table& keys) {
  cpu_device d;
  assign(keys, "memory", d.memory);
  assign(keys, "link", d.link);
  assign(keys, "latency", d.latency);
  assign(keys, "threads", d.threads);
  assign(keys, "speed", d.speed);
  d.numbers = precision_from(keys);
  return d;
}

}  // namespace hydra::apps
