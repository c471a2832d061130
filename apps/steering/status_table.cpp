#include "apps/steering/status_table.hpp"

#include "actors/report/text_table.hpp"
#include "runtime/base/bytes.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace hydra::apps {

namespace {

using nlohmann::ordered_json;
using enum alignment;

std::string text(const ordered_json& j, const char* key) {
  const auto found = j.find(key);
  return found != j.end() && found->is_string() ? found->get<std::string>() : "-";
}

template <class Show>
std::string number(const ordered_json& j, const char* key, const Show& show) {
  const auto found = j.find(key);
  return found != j.end() && found->is_number() ? show(found->get<double>()) : "-";
}

std::string count(const ordered_json& j, const char* key) {
  return number(j, key, [](double x) { return fmt::format("{:.0f}", x); });
}

std::string loss(const ordered_json& j, const char* key) {
  return number(j, key, [](double x) { return fmt::format("{:.4f}", x); });
}

std::string share(const ordered_json& j, const char* key) {
  return number(j, key, [](double x) { return fmt::format("{:.0f} %", x * 100); });
}

std::string bytes(const ordered_json& j, const char* key) {
  return number(j, key, [](double x) { return to_string(byte_count{x > 0 ? static_cast<std::uint64_t>(x) : 0}); });
}

/// "waiting (for host memory: 3 of 20)"
std::string state_text(const ordered_json& model) {
  const std::string why = text(model, "note");
  return text(model, "state") + (why == "-" ? "" : fmt::format(" ({})", why));
}

ordered_json list(const ordered_json& j, const char* key) {
  return j.is_object() && j.contains(key) ? j.at(key) : ordered_json::array();
}

std::string cost(const ordered_json& j) {
  return number(j, "cost", [](double c) { return fmt::format("{:.4f}", c); });
}

std::string energy(const ordered_json& j) {
  return number(j, "joules", [](double joules) { return fmt::format("{:.3f}", joules / 1000); });
}

std::string models_table(const ordered_json& status) {
  std::vector<table_column> columns{
      {"model"}, {"state"}, {"steps", right}, {"loss", right}, {"validation", right}};
  if (status.contains("cost")) columns.push_back({"cost", right});
  if (status.contains("joules")) columns.push_back({"energy (kJ)", right});
  text_table t{columns};
  for (const ordered_json& m : list(status, "models")) {
    std::vector<std::string> cells{text(m, "name"), state_text(m), count(m, "steps") + "/" + count(m, "of"),
                                   loss(m, "loss"), loss(m, "validation")};
    if (status.contains("cost")) cells.push_back(cost(m));
    if (status.contains("joules")) cells.push_back(energy(m));
    t.add(std::move(cells));
  }
  return t.to_string();
}

/// So far; empty if neither is known.
std::string expense_text(const ordered_json& status) {
  std::vector<std::string> parts;
  if (status.contains("cost"))
    parts.push_back(fmt::format("cost {}{}", cost(status),
                                status.contains("currency") ? " " + text(status, "currency") : ""));
  if (status.contains("joules")) parts.push_back(fmt::format("energy {} kJ", energy(status)));
  return parts.empty() ? "" : fmt::format("{}\n", fmt::join(parts, "  "));
}

}  // namespace

std::string devices_table(const ordered_json& status) {
  text_table t{{{"device"}, {"busy", right}, {"memory", right}, {"peak", right}, {"budget", right}}};
  for (const ordered_json& d : list(status, "devices"))
    t.add({text(d, "name"), share(d, "busy"), bytes(d, "memory"), bytes(d, "peak"), bytes(d, "budget")});
  return t.to_string();
}

std::string status_table(const ordered_json& status) {
  const ordered_json host = list(status, "host");
  return models_table(status) + "\n" + devices_table(status) +
         fmt::format("host memory {} of {}, peak {}; {} since the start\n", bytes(host, "used"), bytes(host, "budget"),
                     bytes(host, "peak"),
                     number(status, "elapsed_s", [](double s) { return fmt::format("{:.0f} s", s); })) +
         expense_text(status);
}

}  // namespace hydra::apps
