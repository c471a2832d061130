#include "apps/workload/expense_keys.hpp"

#include "apps/workload/convert.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

namespace hydra::apps {

namespace {

constexpr auto unknown_amount = "not known";
constexpr number_range amounts{.least = 0, .most = 1e9};

const value_table& keys_in(const value& device) { return std::get<value_table>(device.content); }

key_rule price_rule(const char* help) { return changeable(real_rule("price", amounts, unknown_amount, help)); }

/// Which devices are free, or draw nothing, has to be said.
void check_all_have(const value_list& devices, const char* key, const char* nothing) {
  const auto has = [&](const value& d) { return keys_in(d).find(key) != nullptr; };
  const auto with = std::ranges::find_if(devices, has);
  const auto without = std::ranges::find_if_not(devices, has);
  if (with == devices.end() || without == devices.end()) return;
  refuse(without->where, fmt::format("device.{}", key),
         fmt::format("missing here, but given at {}; give it for all devices, as {} = {} if that is so",
                     to_string(keys_in(*with).find(key)->where), key, nothing));
}

}  // namespace

std::vector<key_rule> device_expense_rules() {
  const table_rules watts{.keys = {required(real_rule("busy", amounts, "", "while it computes")),
                                   required(real_rule("idle", amounts, "", "while it does not"))}};
  return {price_rule("of one device for an hour"),
          changeable(table_rule("watts", watts, "that one device draws; what it measures itself counts more")),
          changeable({.name = "billing",
                      .help = "paid while the run lasts, or from the device's first unit to its last",
                      .fallback = to_string(billing::run),
                      .choices = {to_string(billing::run), to_string(billing::used)}})};
}

std::vector<key_rule> host_expense_rules() {
  return {price_rule("for an hour, besides the devices"),
          changeable(real_rule("watts", amounts, unknown_amount,
                               "that it draws besides the devices; what its processors measure counts more"))};
}

std::vector<key_rule> run_expense_rules() {
  return {
      changeable(plain_rule("currency", value_kind::text, "", "of prices, such as \"USD\"")),
      changeable({.name = "objective",
                  .help = "the run uses those of its devices on which this is least",
                  .fallback = "makespan",
                  .choices = {"makespan", "cost", "energy"}}),
      changeable(plain_rule("deadline", value_kind::time, "none", "of the makespan, for the choice of devices")),
      changeable(real_rule("grams_per_kwh", amounts, unknown_amount, "of carbon dioxide, to show it beside energy"))};
}

expense_terms read_device_terms(const value_table& device) {
  expense_terms t;
  if (const value* const price = device.find("price")) t.price = to<double>(*price);
  if (device.find("watts")) {
    t.watts.emplace();
    assign(sub_table(device, "watts"), "busy", t.watts->busy);
    assign(sub_table(device, "watts"), "idle", t.watts->idle);
  }
  if (const value* const billed = device.find("billing"))
    t.billed = *billing_of(to<std::string>(*billed));
  return t;
}

run_terms read_run_terms(const value_table& root) {
  run_terms t;
  const value_table& host = sub_table(root, "host");
  const value_table& run = sub_table(root, "run");
  if (const value* const price = host.find("price")) t.host.price = to<double>(*price);
  if (const value* const watts = host.find("watts")) {
    const auto always = to<double>(*watts);
    t.host.watts = power_draw{.busy = always, .idle = always};
  }
  assign(run, "currency", t.currency);
  if (const value* const grams = run.find("grams_per_kwh")) t.grams_per_kwh = to<double>(*grams);
  return t;
}

run_goal read_run_goal(const value_table& root) {
  const value_table& run = sub_table(root, "run");
  run_goal goal;
  std::string least;
  assign(run, "objective", least);
  if (least == "cost") goal.least = run_objective::cost;
  if (least == "energy") goal.least = run_objective::energy;
  if (const value* const deadline = run.find("deadline")) goal.deadline = to<duration>(*deadline);
  return goal;
}

namespace {

/// A meter measures a run, but predicts none.
void check_goal(const value_table& root, const char* objective, const char* key) {
  const value* const given = find_path(root, "run.objective");
  const auto* const text = content_of<std::string>(given);
  if (!text || *text != objective) return;
  for (const value& d : sub_tables(root, "device"))
    if (!keys_in(d).find(key))
      refuse(given->where, "run.objective",
             fmt::format("\"{}\" needs {} of each device, and the [[device]] at {} has none", objective, key,
                         to_string(d.where)));
}

/// Not before a run begins.
void check_deadline(const value_table& root) {
  const value* const given = find_path(root, "run.deadline");
  if (given && to<duration>(*given) <= duration::zero())
    refuse(given->where, "run.deadline", "no run takes so little time; give a time above 0");
}

/// What has no effect.
void check_device(const value_table& device) {
  const value* const billed = device.find("billing");
  if (billed && !device.find("price") && !device.find("watts"))
    refuse(billed->where, "device.billing",
           "says for which time price and watts count, and this [[device]] has neither; give one, or leave it out");
  const auto watts = read_device_terms(device).watts;
  if (watts && watts->idle > watts->busy)
    refuse(device.find("watts")->where, "device.watts",
           fmt::format("idle = {} is more than busy = {}; exchange them", watts->idle, watts->busy));
}

/// The cost of a run would be that of the host alone.
void check_host(const value_table& root, const value_list& devices) {
  const value* const given = find_path(root, "host.price");
  if (given && std::ranges::none_of(devices, [](const value& d) { return keys_in(d).find("price"); }))
    refuse(given->where, "host.price",
           "no [[device]] has a price; give each one, price = 0 if the price of the host is that of all");
}

}  // namespace

void check_expenses(const value_table& root) {
  const value_list& devices = sub_tables(root, "device");
  check_deadline(root);
  check_goal(root, "cost", "price");
  check_goal(root, "energy", "watts");
  check_all_have(devices, "price", "0");
  check_all_have(devices, "watts", "{ busy = 0, idle = 0 }");
  for (const value& d : devices) check_device(keys_in(d));
  check_host(root, devices);
}

}  // namespace hydra::apps
