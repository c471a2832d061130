#include "apps/report/page_parts.hpp"

#include "apps/report/markup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace hydra::apps {

namespace {

constexpr const char* style = R"(
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #5b6570; --line: #d9dee4; --ground: #ffffff; --card: #f5f7f9; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ed; --soft: #9aa5b1; --line: #343b44; --ground: #15181c; --card: #1d2127; }
}
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--ground); margin: 0 auto; max-width: 1180px;
       padding: 24px 20px; }
h1 { font-size: 26px; margin: 0; } h2 { font-size: 18px; margin: 36px 0 8px; }
p.note, footer { color: var(--soft); font-size: 13px; }
.facts { display: flex; flex-wrap: wrap; gap: 12px; margin: 20px 0; }
.facts div { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 10px 16px; }
.facts b { display: block; font-size: 22px; } .facts span { color: var(--soft); font-size: 13px; display: block; }
.facts div { max-width: 340px; box-sizing: border-box; overflow-wrap: anywhere; }
pre { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 10px 16px; font-size: 13px;
      white-space: pre-wrap; overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 4px 12px 4px 0; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { color: var(--soft); font-weight: 500; font-size: 13px; white-space: normal; vertical-align: bottom; }
.n { text-align: right; } td:last-child:not(.n) { white-space: normal; min-width: 150px; }
th:first-child, td:first-child { position: sticky; left: 0; background: var(--ground); }
.fault { white-space: normal; color: #e15759; }
svg { width: 100%; height: auto; } svg text { font-size: 11px; fill: var(--soft); }
.grid { stroke: var(--line); stroke-width: 1; } .point { stroke: var(--ink); stroke-width: 1.2; }
.legend span { display: inline-block; margin-right: 14px; font-size: 13px; }
i { display: inline-block; width: 11px; height: 11px; border-radius: 2px; margin-right: 6px; }
@media print {
  :root { --ink: #000; --soft: #444; --line: #bbb; --ground: #fff; --card: #fff; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  section, tr, svg { break-inside: avoid; } body { max-width: none; padding: 0; font-size: 11px; }
}
)";

std::string head_of(const std::vector<column>& columns) {
  std::string out = "<tr>";
  for (const column& c : columns)
    out += fmt::format("<th{}>{}</th>", c.numeric ? " class=\"n\"" : "", escaped(c.title));
  return out + "</tr>\n";
}

}  // namespace

std::string row_of(const std::vector<column>& columns, const std::vector<std::string>& cells) {
  std::string out = "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i)
    out += fmt::format("<td{}>{}</td>", columns[i].numeric ? " class=\"n\"" : "", cells[i]);
  return out + "</tr>\n";
}

std::string table_of(const std::vector<column>& columns, const std::string& rows) {
  return "<div class=\"wide\"><table>\n" + head_of(columns) + rows + "</table></div>\n";
}

std::string table_of(const std::vector<column>& columns, const std::vector<std::vector<std::string>>& rows) {
  if (rows.empty()) return "";
  std::vector<column> shown;
  std::vector<std::vector<std::string>> cells(rows.size());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const auto has_value = [c](const auto& row) { return !row[c].empty() && row[c] != "-"; };
    if (c > 0 && std::ranges::none_of(rows, has_value)) continue;
    shown.push_back(columns[c]);
    for (std::size_t r = 0; r < rows.size(); ++r) cells[r].push_back(rows[r][c]);
  }
  std::string text;
  for (const auto& row : cells) text += row_of(shown, row);
  return table_of(shown, text);
}

std::string section(const std::string& title, const std::string& content, const std::string& note) {
  if (content.empty()) return "";
  const std::string remark = note.empty() ? "" : fmt::format("<p class=\"note\">{}</p>\n", escaped(note));
  return fmt::format("<section>\n<h2>{}</h2>\n{}{}</section>\n", escaped(title), content, remark);
}

std::string page_of(const std::string& title, const std::string& body, const std::string& version,
                    const std::string& more_style) {
  return fmt::format(
             "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
             "<title>{0} - Hydra</title>\n<style>{1}{2}</style>\n</head>\n<body>\n<h1>{0}</h1>\n",
             escaped(title), style, more_style) +
         body + fmt::format("<footer>Hydra {}</footer>\n</body>\n</html>\n", escaped(version));
}

}  // namespace hydra::apps
