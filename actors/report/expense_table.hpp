#pragma once
// What a run has taken, as text.

#include "actors/report/report.hpp"
#include "actors/report/text_table.hpp"

#include <string>
#include <vector>

namespace hydra {

/// In kJ, to the joule.
std::string energy_text(std::int64_t joules);

/// "1.2345 USD"; without a currency the number.
std::string cost_text(money cost, const std::string& currency);

/// "cost (USD)", of a column of numbers.
std::string cost_title(const std::string& currency);

/// "cost 1.2345 USD  energy 12.345 kJ (devices stated, host rapl)  carbon 1.2 g"; empty if neither is
/// known or asked for (by a currency, by grams per kWh).
std::string expense_line(const expense& all, const run_terms& terms, const std::string& sources = {},
                         const expense_gaps& gaps = {});
/// The same of a run, with a newline.
std::string expense_line(const report& r);

/// A row for each model, the run, its parts before it was resumed, each device and the host; none if neither cost nor
/// energy is known.
std::vector<table_column> expense_columns(const report& r);
std::vector<std::vector<std::string>> expense_rows(const report& r);
/// The same as a table.
std::string expense_table(const report& r);

}  // namespace hydra
