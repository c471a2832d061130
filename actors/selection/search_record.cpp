#include "actors/selection/search_record.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <limits>
#include <utility>

namespace hydra {

namespace {

using json = nlohmann::ordered_json;

constexpr std::array verdicts{std::pair{trial_verdict::wait, "wait"}, std::pair{trial_verdict::go_on, "go on"},
                              std::pair{trial_verdict::stop, "stop"}};

json to_json(const trial_copy& copy) {
  json keys = json::object();
  for (const key_value& k : copy.keys) keys[k.key] = k.value;
  return {{"trial", copy.trial}, {"of", copy.of}, {"steps", copy.steps}, {"keys", std::move(keys)}};
}

json to_json(const trial_decision& d) {
  json j{{"trial", d.trial}, {"steps", d.steps}};
  for (const auto& [verdict, name] : verdicts)
    if (verdict == d.verdict) j["verdict"] = name;
  if (d.rank > 0) {
    j["rank"] = d.rank;
    j["ranked"] = d.ranked;
  }
  if (d.copy) j["copy"] = to_json(*d.copy);
  return j;
}

json to_json(const search_event& event) {
  if (const auto* end = std::get_if<trial_ended>(&event)) return {{"trial", end->trial}, {"ended", true}};
  const auto& r = std::get<trial_result>(event);
  return {{"trial", r.trial}, {"steps", r.steps}, {"score", r.score}};
}

trial_copy copy_from(const json& j) {
  trial_copy copy{j.at("trial"), j.at("of"), j.at("steps"), {}};
  for (const auto& [key, value] : j.at("keys").items()) copy.keys.push_back({key, value});
  return copy;
}

trial_verdict verdict_from(const std::string& text) {
  for (const auto& [verdict, name] : verdicts)
    if (text == name) return verdict;
  throw fault_error{fault_code::damaged, fmt::format("\"{}\" is not a verdict", shown(text))};
}

trial_decision decision_from(const json& j) {
  trial_decision d{j.at("trial"), j.at("steps"), verdict_from(j.at("verdict")), j.value("rank", 0u),
                   j.value("ranked", 0u)};
  if (j.contains("copy")) d.copy = copy_from(j.at("copy"));
  return d;
}

search_record record_from(const json& j) {
  search_record record;
  if (j.contains("ended")) {
    record.event = trial_ended{j.at("trial")};
  } else {
    const json& score = j.at("score");
    const double number = score.is_null() ? std::numeric_limits<double>::quiet_NaN() : score.get<double>();
    record.event = trial_result{j.at("trial"), j.at("steps"), number};
  }
  for (const json& d : j.at("decisions")) record.decisions.push_back(decision_from(d));
  return record;
}

search_record parsed(std::string_view line, std::size_t number) {
  const auto damaged = [number](std::string_view why) -> fault_error {
    return {fault_code::damaged, fmt::format("line {} is not a decision of a search: {}", number, why)};
  };
  try {
    return record_from(parse_ordered_json(line));
  } catch (const json::exception& e) {
    throw damaged(json_complaint(e));
  } catch (const fault_error& e) {
    throw damaged(e.what_happened().text);
  }
}

}  // namespace

search_record decide(search_rule& rule, search_event event) {
  const auto* end = std::get_if<trial_ended>(&event);
  std::vector<trial_decision> decisions = end ? rule.ended(end->trial) : rule.result(std::get<trial_result>(event));
  return {std::move(event), std::move(decisions)};
}

std::string to_json_line(const search_record& record) {
  json j = to_json(record.event);
  j["decisions"] = json::array();
  for (const trial_decision& d : record.decisions) j["decisions"].push_back(to_json(d));
  return json_text(j) + "\n";
}

std::vector<search_record> parse_search_records(std::string_view lines) {
  std::vector<search_record> records;
  for (std::size_t end = lines.find('\n'); end != std::string_view::npos; end = lines.find('\n')) {
    records.push_back(parsed(lines.substr(0, end), records.size() + 1));
    lines.remove_prefix(end + 1);
  }
  return records;
}

void replay(search_rule& rule, std::span<const search_record> records) {
  for (std::size_t i = 0; i < records.size(); ++i)
    if (decide(rule, records[i].event).decisions != records[i].decisions)
      throw fault_error{fault_code::damaged,
                        fmt::format("line {}: the search would now decide otherwise than recorded: its settings or its "
                                    "trials are others",
                                    i + 1)};
}

}  // namespace hydra
