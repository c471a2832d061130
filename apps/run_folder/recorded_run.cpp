#include "apps/run_folder/recorded_run.hpp"

#include "actors/report/report_json.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/path_kind.hpp"
#include "runtime/base/text_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <limits>

namespace hydra::apps {

namespace {

using nlohmann::ordered_json;

[[noreturn]] void refuse_report(const std::string& name, const std::string& what) {
  throw fault_error{fault_code::bad_input, fmt::format("{}: {}", name, what)};
}

/// {"work_s": 1.5, "chain_s": 2} in its order; nothing without the key.
std::vector<named_seconds> read_parts(const ordered_json& j, const char* key) {
  std::vector<named_seconds> parts;
  if (!j.contains(key)) return parts;
  for (const auto& [name, v] : j.at(key).items())
    if (v.is_number())
      parts.push_back({name.ends_with("_s") ? name.substr(0, name.size() - 2) : name, v.get<double>()});
  return parts;
}

/// What was written next to the report's members; computed from them where an older version has not written it.
recorded_run read_run(const ordered_json& j) {
  recorded_run r;
  r.summary = report_of(j);
  r.bounds = read_parts(j, "bounds");
  r.version = j.value("version", "");
  r.bound = j.value("bound", r.summary.bound_name());
  r.bound_seconds = j.value("bound_s", seconds(r.summary.bound()));
  const bool finite = !j.contains("efficiency") || !j.at("efficiency").is_null();
  r.efficiency = finite ? j.value("efficiency", r.summary.efficiency()) : std::numeric_limits<double>::quiet_NaN();
  for (const ordered_json& d : j.value("devices", ordered_json::array())) r.breakdown.push_back(read_parts(d, "blame"));
  return r;
}

ordered_json parsed(std::string_view text, const std::string& name) try {
  return parse_ordered_json(text);
} catch (const fault_error& e) {
  refuse_report(name, e.what_happened().text);
}

}  // namespace

recorded_run parse_report(std::string_view text, const std::string& name) {
  try {
    const ordered_json j = parsed(text, name);
    if (!j.is_object() || !j.contains("models"))
      refuse_report(name, "this is not a report of a run: it has no \"models\"");
    return read_run(j);
  } catch (const ordered_json::parse_error& e) {
    refuse_report(name, fmt::format("not valid JSON at byte {} of {}; is it truncated?", e.byte, text.size()));
  } catch (const ordered_json::exception& e) {
    refuse_report(name, fmt::format("not what a run writes: {}", json_complaint(e)));
  }
}

recorded_run read_report(const std::filesystem::path& run) {
  const auto kind = kind_of(run);
  if (kind == std::filesystem::file_type::not_found) refuse_report(run.string(), "no such run folder");
  if (kind != std::filesystem::file_type::directory)
    refuse_report(run.string(), "a file; the folder of a run is expected, such as runs/quickstart");
  const auto file = run / "report.json";
  if (kind_of(file) == std::filesystem::file_type::not_found)
    refuse_report(file.string(), "no such file; a run writes it at its end");
  return parse_report(read_text(file, text_kind::record), file.string());
}

}  // namespace hydra::apps
