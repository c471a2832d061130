#include "apps/simulate/recipe_keys.hpp"

#include "apps/workload/check.hpp"
#include "apps/workload/convert.hpp"
#include "apps/workload/parse.hpp"
#include "runtime/base/nearest.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

namespace hydra::apps {

namespace {

instance_family family_of(const std::string& name) {
  const auto found = std::ranges::find(names_of_families, name);
  return static_cast<instance_family>(found - names_of_families.begin());
}

template <class T>
std::optional<T> number_in(std::string_view text) {
  T x{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), x);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional{x} : std::nullopt;
}

/// "4x0.5": so many devices of that speed.
bool add_group(std::string_view group, std::vector<double>& speeds) {
  const auto cross = group.find('x');
  const auto count = number_in<std::size_t>(group.substr(0, cross));
  const auto speed = cross == std::string_view::npos ? std::nullopt : number_in<double>(group.substr(cross + 1));
  if (!count || *count == 0 || *count > recipe_limits::devices || !speed) return false;
  speeds.insert(speeds.end(), *count, *speed);
  return true;
}

/// "4x1+4x0.5".
std::vector<double> speeds_from(const value& v) {
  const auto& text = std::get<std::string>(v.content);
  std::vector<double> speeds;
  for (std::size_t from = 0; from <= text.size();) {
    const auto to = std::min(text.find('+', from), text.size());
    if (!add_group(std::string_view{text}.substr(from, to - from), speeds))
      refuse(v.where, "speeds",
             fmt::format("\"{}\" is given, expected COUNTxSPEED+..., such as \"4x1+4x0.5\"", shown(text)));
    from = to + 1;
  }
  return speeds;
}

/// What follows the equals sign: a TOML value, or a bare word such as 4x1+4x0.5.
value value_of(const std::string& text, const place& where) {
  auto parsed = parse_value(text);
  if (!parsed) return text_value(text, where);
  parsed->where = where;
  return *parsed;
}

value_table parse_pairs(std::string_view text, const place& where) {
  value_table table;
  for (std::size_t from = 0; from < text.size();) {
    const auto to = std::min(text.find(',', from), text.size());
    const std::string pair{text.substr(from, to - from)};
    const auto equals = pair.find('=');
    if (equals == std::string::npos || equals == 0)
      refuse(where, pair, "KEY=VALUE is expected, such as --generate hetero:models=12,rho=0.5");
    const std::string key = pair.substr(0, equals);
    if (table.find(key)) refuse(where, key, "is given twice");
    table.set(key, value_of(pair.substr(equals + 1), where));
    from = to + 1;
  }
  return table;
}

}  // namespace

std::vector<std::string> family_names() { return {names_of_families.begin(), names_of_families.end()}; }

std::vector<key_rule> recipe_keys() {
  using limits = recipe_limits;
  return {
      integer_rule("models", {1, limits::models}, "12", "how many"),
      integer_rule("devices", {1, limits::devices}, "8", "how many, of speed 1"),
      {.name = "speeds", .help = "of the devices, instead of `devices`: \"4x1+4x0.5\"", .fallback = "all 1"},
      real_rule("rho", {0, limits::ratio}, "0", "copy of a shard / mean of (forward + backward) / 2; 0: no transfers"),
      real_rule("frozen", {0, 1}, "0",
                "share of a shard's copy that is its base, frozen parameters of family equal; above 0.5"),
      switch_rule("share", "true", "all models have one base, as fine-tunings of one model"),
      real_rule("optimizer", {0, limits::ratio}, "0", "update of a shard / its copy"),
      real_rule("length", {.least = 0, .most = limits::ratio, .open_least = true}, "1",
                "how many times the study's steps"),
      integer_rule("slots", {1, 1 << 20}, "2", "cache places of a device, one shard each"),
      integer_rule("depth", {0, 1 << 20}, "0", "units staged besides the one that computes; 0: slots - 1, at most 8"),
      switch_rule("prefetch", "true", "a unit is staged while another computes"),
      switch_rule("copy_back_clean", "false", "parameters of forward visits are copied to the host"),
      integer_rule("host_workers", {1, 65536}, "1", "that update parameters"),
      real_rule("noise", {.most = 1, .open_most = true}, "0", "units take up to this share longer or shorter"),
      real_rule("arrivals", {0, limits::ratio}, "0", "models arrive within this share of the work bound"),
      real_rule("deadlines", {0, limits::ratio}, "0",
                "deadline of each model: its arrival, and so many times its time alone; 0: none"),
      integer_rule("failures", {0, limits::devices}, "0", "devices that die, within the work bound"),
      real_rule("hours", {0, limits::ratio}, "2", "of each model of family paper; 0: 0.5 to 4"),
      integer_rule("units", {0, limits::units}, "2000", "of each model of family paper; 0: 100 to 10000"),
      integer_rule("seed", {.least = 0}, "0", "of all that is random")};
}

instance_recipe read_recipe(const std::string& family, const value_table& table) {
  const value* const devices = table.find("devices");
  const value* const speeds = table.find("speeds");
  instance_recipe r{.family = family_of(family)};
  assign(table, "models", r.models);
  if (devices) r.speeds.assign(to<std::size_t>(*devices), 1.0);
  if (speeds) r.speeds = speeds_from(*speeds);
  if (devices && r.speeds.size() != to<std::size_t>(*devices))
    refuse(devices->where, "devices",
           fmt::format("{} is given, but `speeds` has {}; one of the two keys is enough", devices->written,
                       r.speeds.size()));
  assign(table, "rho", r.rho);
  assign(table, "frozen", r.frozen);
  assign(table, "share", r.share);
  assign(table, "optimizer", r.optimizer);
  assign(table, "length", r.length);
  assign(table, "slots", r.slots);
  assign(table, "depth", r.depth);
  assign(table, "prefetch", r.prefetch);
  assign(table, "copy_back_clean", r.copy_back_clean);
  assign(table, "host_workers", r.host_workers);
  assign(table, "noise", r.noise);
  assign(table, "arrivals", r.arrivals);
  assign(table, "deadlines", r.deadlines);
  assign(table, "failures", r.failures);
  assign(table, "hours", r.hours);
  assign(table, "units", r.units);
  assign(table, "seed", r.seed);
  return r;
}

instance_recipe parse_recipe(const std::string& text) {
  const place where{std::make_shared<std::string>("--generate"), 0};
  const auto colon = std::min(text.find(':'), text.size());
  const std::string family = text.substr(0, colon);
  const auto names = family_names();
  if (std::ranges::count(names, family) == 0)
    refuse(where, "family", fmt::format("there is no \"{}\"{}", shown(family), known_instead(family, names)));
  const value_table table = parse_pairs(std::string_view{text}.substr(std::min(colon + 1, text.size())), where);
  check_table({table, where, ""}, {.keys = recipe_keys()});
  return read_recipe(family, table);
}

schedule_instance generate_at(const instance_recipe& recipe, const place& where, const std::string& key) {
  return located(where, key, [&] { return generate(recipe); });
}

}  // namespace hydra::apps
