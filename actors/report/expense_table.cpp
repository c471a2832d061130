#include "actors/report/expense_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <vector>

namespace hydra {

namespace {

bool is_known(const expense& e) { return e.cost || e.joules; }

/// "devices nvml, host not known"; empty if neither is known.
std::string sources_of(const report& r) {
  const bool any = !r.host_energy_source.empty() ||
                   std::ranges::any_of(r.devices, [](const auto& d) { return !d.energy_source.empty(); });
  if (!any) {
    return "";
  }
  const auto said = [](const std::string& source) { return source.empty() ? "not known" : source; };
  std::set<std::string> of_devices;
  for (const auto& d : r.devices) {
    of_devices.insert(said(d.energy_source));
  }
  return fmt::format("devices {}, host {}", fmt::join(of_devices, " and "), said(r.host_energy_source));
}

std::vector<std::string> row_of(const std::string& name, const std::string& time, const expense& e,
                                const std::string& source = "-") {
  return {name, time, e.cost ? to_string(*e.cost) : "-", e.joules ? energy_text(*e.joules) : "-", source};
}

/// " (devices nvml, host rapl; not of all parts of the run)"; may be empty.
std::string in_brackets(std::vector<std::string> all) {
  std::erase(all, "");
  return all.empty() ? "" : fmt::format(" ({})", fmt::join(all, "; "));
}

const char* text_of_gap(bool gap) { return gap ? "not of all parts of the run" : ""; }

}  // namespace

std::string energy_text(std::int64_t joules) { return fmt::format("{:.3f}", static_cast<double>(joules) / 1000); }

std::string cost_text(money cost, const std::string& currency) {
  return to_string(cost) + (currency.empty() ? "" : " " + currency);
}

std::string cost_title(const std::string& currency) {
  return currency.empty() ? "cost" : fmt::format("cost ({})", currency);
}

std::string expense_line(const expense& all, const run_terms& terms, const std::string& sources,
                         const expense_gaps& gaps) {
  std::vector<std::string> parts;
  if (all.cost) {
    parts.push_back("cost " + cost_text(*all.cost, terms.currency) + in_brackets({text_of_gap(gaps.cost)}));
  } else if (!terms.currency.empty()) {
    parts.emplace_back("cost not known: nothing has a price");
  }
  if (all.joules) {
    parts.push_back(fmt::format("energy {} kJ{}", energy_text(*all.joules),
                                in_brackets({sources, text_of_gap(gaps.joules)})));
    if (terms.grams_per_kwh) {
      parts.push_back(fmt::format("carbon {:.1f} g", carbon_of(*all.joules, *terms.grams_per_kwh)));
    }
  } else if (terms.grams_per_kwh) {
    parts.emplace_back("energy not known: it is neither measured nor stated");
  }
  return fmt::format("{}", fmt::join(parts, "  "));
}

std::string expense_line(const report& r) {
  const auto line = expense_line(r.spent, {.currency = r.currency, .grams_per_kwh = r.grams_per_kwh}, sources_of(r),
                                 r.spent_gaps);
  return line.empty() ? "" : line + (is_known(r.before) ? "  with its earlier parts" : "") + "\n";
}

std::vector<table_column> expense_columns(const report& r) {
  using enum alignment;
  return {{"expense of"},
          {"device time", right},
          {cost_title(r.currency), right},
          {"energy (kJ)", right},
          {"energy is"}};
}

std::vector<std::vector<std::string>> expense_rows(const report& r) {
  std::vector<std::vector<std::string>> rows;
  if (!is_known(r.spent)) {
    return rows;
  }
  for (const auto& m : r.models) {
    rows.push_back(row_of(m.name, clock_text(m.spent.time), m.spent));
  }
  if (is_known(r.gone)) {
    rows.push_back(row_of("models that are gone", clock_text(r.gone.time), r.gone));
  }
  rows.push_back(row_of("the run", clock_text(r.spent.time), r.spent));
  if (is_known(r.before)) {
    rows.push_back(row_of("its earlier parts", clock_text(r.before.time), r.before));
  }
  for (const auto& d : r.devices) {
    rows.push_back(row_of("on " + d.name, clock_text(d.spent.time), d.spent, d.energy_source));
  }
  if (is_known(r.host_spent)) {
    rows.push_back(row_of("on the host", "-", r.host_spent, r.host_energy_source));
  }
  return rows;
}

std::string expense_table(const report& r) {
  text_table t{expense_columns(r)};
  const auto rows = expense_rows(r);
  for (const auto& row : rows) {
    t.add(row);
  }
  return rows.empty() ? "" : t.fitted();
}

}  // namespace hydra
