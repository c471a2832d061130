#include "apps/workload/device_kinds.hpp"

#include "apps/workload/convert.hpp"
#include "apps/workload/expense_keys.hpp"
#include "apps/workload/option_keys.hpp"
#include "runtime/device/cpu/accounting_allocator.hpp"
#include "runtime/device/cuda/cuda_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace hydra::apps {

namespace {

/// Of a run: each device has a memory account, and one account is reserved for the pilot's measurements.
constexpr int most_devices = most_memory_accounts - 1;

const value_table& table_of(const value& device) { return std::get<value_table>(device.content); }

/// Keys of a device of any kind, besides that.
std::vector<key_rule> common_rules() {
  std::vector<key_rule> rules = device_expense_rules();
  rules.insert(rules.begin(), integer_rule("count", {1, most_devices}, "1", "how many of these"));
  return rules;
}

/// A key of every kind whose devices can compute in fp32 and in bf16.
key_rule precision_rule() {
  return {.name = "precision",
          .kind = value_kind::text,
          .help = "of parameters and activations; all devices alike",
          .fallback = "fp32",
          .choices = {"fp32", "bf16"}};
}

key_rule gradients_rule() {
  return {.name = "gradients",
          .kind = value_kind::text,
          .help = "as they are copied to the host; bf16 only with that precision; all devices alike",
          .fallback = "fp32",
          .choices = {"fp32", "bf16"}};
}

/// A plug-in may mean something else by that name.
bool has(const device_entry& d, const key_rule& rule) {
  return std::ranges::any_of(d.kind.keys,
                             [&](const key_rule& k) { return k.name == rule.name && k.choices == rule.choices; });
}

precision precision_from(const value_table& keys, const std::string& key) {
  std::string name = to_string(precision::fp32);
  assign(keys, key, name);
  return name == to_string(precision::bf16) ? precision::bf16 : precision::fp32;
}

device_kind cpu_kind() {
  return {
      "cpu",
      "virtual device: host threads with a memory budget of their own and an emulated link",
      {{.name = "memory", .kind = value_kind::bytes, .help = "budget, enforced", .required = true},
       {.name = "link", .kind = value_kind::rate, .help = "rate of copies, each way", .fallback = "not emulated"},
       {.name = "latency", .kind = value_kind::time, .help = "of each copy", .fallback = "0ms"},
       integer_rule("threads", {1, 1024}, "1", "that compute"),
       real_rule("speed", {.least = 0, .most = 1, .open_least = true}, "1.0", "the rest is slept after the work"),
       precision_rule(),
       gradients_rule()},
      false,
      [](session& s, int count, const value& keys) {
        s.add_devices(count, read_cpu_device(table_of(keys)), read_device_terms(table_of(keys)));
      }};
}

device_kind kind_of_plugin(std::string name, std::string help, std::vector<key_rule> keys) {
  const auto add = [name, keys](session& s, int count, const value& given) {
    s.add_devices(count, name, read_options(table_of(given), keys), to_string(given.where) + ": device",
                  read_device_terms(table_of(given)));
  };
  return {std::move(name), std::move(help), std::move(keys), true, add};
}

/// The plug-in need not be present when a file is checked.
device_kind cuda_kind() {
  std::vector<key_rule> keys;
  for (const option& o : cuda_option_list()) keys.push_back(rule_of(o));
  std::ranges::find(keys, "memory", &key_rule::name)->kind = value_kind::bytes_or_percent;
  return kind_of_plugin("cuda", "an NVIDIA GPU, or a part of one", std::move(keys));
}

// -- plug-ins ---------------------------------------------------------------------------------------------------------

key_rule own_rule(const known_device& of, const option& o) {
  if (o.name.empty() || o.name == "kind" || std::ranges::count(common_rules(), o.name, &key_rule::name) > 0)
    refuse(fmt::format("plug-in \"{}\": its device \"{}\" has an option \"{}\"; this is not a key of its own",
                       of.plugin.string(), of.kind, o.name));
  return rule_of(o);
}

device_kind kind_of(const known_device& of) {
  std::vector<key_rule> keys;
  for (const option& o : of.about.options) keys.push_back(own_rule(of, o));
  return kind_of_plugin(of.kind, of.help, std::move(keys));
}

}  // namespace

const std::vector<device_kind>& device_kinds() {
  static const std::vector<device_kind> kinds{cpu_kind(), cuda_kind()};
  return kinds;
}

std::vector<device_kind> device_kinds_with(const std::vector<known_device>& offered) {
  std::vector<device_kind> kinds = device_kinds();
  for (const known_device& d : offered)
    if (std::ranges::count(kinds, d.kind, &device_kind::name) == 0) kinds.push_back(kind_of(d));
  return kinds;
}

table_rules device_rules(const std::vector<device_kind>& kinds) {
  table_rules rules{.selector = "kind"};
  for (const device_kind& kind : kinds) rules.variants.push_back({kind.name, kind.keys});
  rules.keys = common_rules();
  rules.keys.insert(rules.keys.begin(), selector_rule("kind", rules.variants, ""));
  return rules;
}

void check_device_count(const std::vector<device_entry>& devices) {
  int all = 0;
  for (const device_entry& d : devices)
    if ((all += d.count) > most_devices)
      refuse(place_of(table_of(d.keys), "count", d.keys.where), "device.count",
             fmt::format("{} here make {} devices in all; a run has at most {}, so use fewer", d.count, all,
                         most_devices));
}

namespace {

/// The value that all devices with the key have in common.
precision common(const std::vector<device_entry>& devices, const key_rule& rule) {
  const auto first = std::ranges::find_if(devices, [&](const device_entry& d) { return has(d, rule); });
  if (first == devices.end()) return precision::fp32;
  const precision said = precision_from(table_of(first->keys), rule.name);
  for (const device_entry& d : devices)
    if (const value_table& keys = table_of(d.keys); has(d, rule) && precision_from(keys, rule.name) != said)
      refuse(place_of(keys, rule.name, d.keys.where), "device." + rule.name,
             fmt::format("{} here, but {} at {}; it decides results, so give all devices of a run the same",
                         to_string(precision_from(keys, rule.name)), to_string(said), to_string(first->keys.where)));
  return said;
}

}  // namespace

number_formats common_formats(const std::vector<device_entry>& devices) {
  const number_formats all{.numbers = common(devices, precision_rule()),
                           .gradients = common(devices, gradients_rule())};
  if (all.gradients == precision::bf16 && all.numbers == precision::fp32) {
    const value& keys =
        std::ranges::find_if(devices, [](const device_entry& d) { return has(d, gradients_rule()); })->keys;
    refuse(
        place_of(table_of(keys), "gradients", keys.where), "device.gradients",
        "\"bf16\" is for devices with precision = \"bf16\"; give all devices that precision, or leave gradients out");
  }
  return all;
}

cpu_device read_cpu_device(const value_table& keys) {
  cpu_device d;
  assign(keys, "memory", d.memory);
  assign(keys, "link", d.link);
  assign(keys, "latency", d.latency);
  assign(keys, "threads", d.threads);
  assign(keys, "speed", d.speed);
  d.numbers = precision_from(keys, "precision");
  d.gradients = precision_from(keys, "gradients");
  return d;
}

}  // namespace hydra::apps
