#include "apps/commands/commands.hpp"

#include "apps/steering/answer.hpp"
#include "apps/steering/control_client.hpp"
#include "apps/steering/status_table.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/nearest.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/base/text_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace hydra::apps {

namespace {

using nlohmann::ordered_json;

struct control_options {
  std::string run;
  std::string command;
  std::vector<std::string> arguments;
};

constexpr std::size_t any_number = std::numeric_limits<std::size_t>::max();

/// What follows the command on the command line.
struct form {
  const char* command;
  const char* arguments;
  std::size_t least;
  std::size_t most;
};

constexpr form forms[] = {{"status", "", 0, 0},
                          {"stop", " MODEL", 1, 1},
                          {"pause", " MODEL", 1, 1},
                          {"resume", " MODEL", 1, 1},
                          {"clone", " MODEL key=value...", 1, any_number},
                          {"add", " FILE", 1, 1},
                          {"quit", "", 0, 0}};

const form& form_of(const std::string& command) {
  return find_known("hydra control: unknown command", forms, command, &form::command);
}

std::string workload_text(const std::string& file) {
  std::string text = read_text(file, text_kind::settings);
  if (json_text(ordered_json(text)).size() + 100 > longest_command)
    refuse(std::filesystem::path{file},
           fmt::format("too long to be sent to a run: it has {} bytes; at most {} are taken with all that JSON adds",
                       text.size(), longest_command));
  return text;
}

ordered_json request_of(const control_options& o) {
  const form& f = form_of(o.command);
  if (o.arguments.size() < f.least || o.arguments.size() > f.most)
    refuse(fmt::format("hydra control: {} after \"{}\"; expected: hydra control RUN {}{}",
                       o.arguments.size() < f.least ? "something is missing" : "too much follows", o.command, f.command,
                       f.arguments));
  ordered_json request{{"command", o.command}};
  if (o.command == "add")
    request["workload"] = workload_text(o.arguments[0]);
  else if (f.least > 0)
    request["model"] = o.arguments[0];
  if (o.command == "clone") request["changes"] = std::vector(o.arguments.begin() + 1, o.arguments.end());
  return request;
}

/// One line for a person.
std::string told(const control_options& o, const ordered_json& answer) {
  if (o.command == "status") return status_table(answer);
  if (o.command == "clone") return fmt::format("{}: a clone of {}\n", answer.value("model", ""), o.arguments[0]);
  if (o.command == "stop") return fmt::format("{}: stopped\n", o.arguments[0]);
  if (o.command == "pause") return fmt::format("{}: saved and paused\n", o.arguments[0]);
  if (o.command == "resume") return fmt::format("{}: resumed\n", o.arguments[0]);
  if (o.command == "quit") return "the run saves its state and ends\n";
  std::string lines;
  for (const ordered_json& name : answer.value("models", ordered_json::array()))
    lines += name.get<std::string>() + ": added\n";
  return lines;
}

int control(const control_options& o) {
  fmt::print("{}", printable(told(o, ask_run(o.run, request_of(o)))));
  return 0;
}

}  // namespace

command_action declare_control(command_line& line) {
  auto o = std::make_shared<control_options>();
  line.add_option("run", o->run, "folder of a run that is under way, such as runs/quickstart").required();
  line.add_option(
          "command", o->command,
          "status; stop, pause or resume MODEL; clone MODEL key=value...; add FILE, with [[model]] tables; quit")
      .required();
  line.add_option("arguments", o->arguments, "what the command takes");
  return [o] { return control(*o); };
}

}  // namespace hydra::apps
