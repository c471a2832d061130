#include "apps/steering/answer.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/nearest.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>

namespace hydra::apps {

namespace {

using json = nlohmann::json;
using answer_json = nlohmann::ordered_json;

/// What a command takes beside its name, and what it does. The answer gets the command's name in front.
struct command_rule {
  const char* name;
  std::vector<std::string> members;
  std::function<answer_json(steering&, const read_command&)> execute;
};

/// The action on a model, whose name is the answer.
auto on_model(void (steering::*action)(const std::string&)) {
  return [action](steering& run, const read_command& c) {
    (run.*action)(c.model);
    return answer_json{{"model", c.model}};
  };
}

const std::vector<command_rule>& rules() {
  static const std::vector<command_rule> all{
      {"status", {}, [](steering& run, const read_command&) { return run.status(); }},
      {"stop", {"model"}, on_model(&steering::stop)},
      {"pause", {"model"}, on_model(&steering::pause)},
      {"resume", {"model"}, on_model(&steering::resume)},
      {"clone",
       {"model", "changes"},
       [](steering& run, const read_command& c) {
         return answer_json{{"model", run.clone(c.model, c.changes)}};
       }},
      {"add",
       {"workload"},
       [](steering& run, const read_command& c) {
         return answer_json{{"models", run.add(c.workload)}};
       }},
      {"quit", {}, [](steering& run, const read_command&) { return run.quit(), answer_json::object(); }},
  };
  return all;
}

const command_rule& rule_of(const std::string& name) {
  return find_known("unknown command", rules(), name, &command_rule::name);
}

/// The member of the command, which must be there; `what` it is.
template <class Value>
Value member(const json& j, const char* name, const char* what) try {
  return j.at(name).get<Value>();
} catch (const json::exception&) {
  refuse(fmt::format("\"{}\" is {}: {}", name, j.contains(name) ? "of the wrong type" : "missing", what));
}

void check_members(const json& j, const command_rule& rule) {
  for (const auto& [name, value] : j.items())
    if (name != "command" && std::ranges::count(rule.members, name) == 0)
      refuse(fmt::format("\"{}\" takes no \"{}\"; it takes: {}", rule.name, shown(name),
                         rule.members.empty() ? "nothing else" : fmt::format("{}", fmt::join(rule.members, ", "))));
}

json parsed_json(std::string_view text) try { return parse_json(text); } catch (const fault_error& e) {
  refuse("the command " + e.what_happened().text);
}

read_command parsed(std::string_view text) {
  const json j = parsed_json(text);
  if (!j.is_object()) refuse("a command is a JSON object, such as {\"command\": \"status\"}");
  const command_rule& rule = rule_of(member<std::string>(j, "command", "the name of a command, such as \"status\""));
  check_members(j, rule);
  read_command c{.name = rule.name};
  for (const std::string& name : rule.members) {
    if (name == "model") c.model = member<std::string>(j, "model", "the name of a model");
    if (name == "workload") c.workload = member<std::string>(j, "workload", "the text of a file with [[model]] tables");
    if (name == "changes")
      c.changes =
          member<std::vector<std::string>>(j, "changes", "a list of texts such as \"optimizer.learning_rate=1e-4\"");
  }
  return c;
}

}  // namespace

read_command parse_command(std::string_view text) noexcept try {
  if (text.size() > longest_command)
    refuse(fmt::format("the command has {} bytes; at most {} are read", text.size(), longest_command));
  return parsed(text);
} catch (const json::exception& e) {
  return {.error = "not a line of JSON: " + json_complaint(e)};
} catch (...) {
  return {.error = to_fault(std::current_exception()).text};
}

answer_json answer(steering& run, const read_command& c) noexcept try {
  if (!c.error.empty()) return error_answer(c.error);
  answer_json all{{"command", c.name}};
  all.update(rule_of(c.name).execute(run, c));
  return all;
} catch (...) {
  return error_answer(to_fault(std::current_exception()).text);
}

answer_json error_answer(const std::string& why) { return answer_json{{"error", why}}; }

}  // namespace hydra::apps
