#include "apps/commands/program.hpp"

#include "apps/commands/command.hpp"
#include "apps/commands/command_line.hpp"
#include "apps/commands/exit_status.hpp"
#include "apps/commands/other_commands.hpp"
#include "apps/commands/unexpected_words.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/nearest.hpp"
#include "runtime/base/tell_line.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <hydra/version.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace hydra::apps {

namespace {

int complain(const fault& f) {
  tell_line(f.text);
  return status_of(f.code);
}

int complain_of_output(const std::string& why) {
  return complain({fault_code::io, "cannot write standard output: " + why});
}

/// CLI11 would only say that an argument was not expected.
std::optional<std::string> unknown_command(int argc, const char* const* argv) {
  if (argc < 2 || argv[1][0] == '-') return std::nullopt;
  std::vector<std::string> names;
  std::ranges::transform(commands(), std::back_inserter(names), &command::name);
  if (std::ranges::count(names, argv[1]) > 0) return std::nullopt;
  const std::string_view answer = answer_to_command(argv[1]);
  return fmt::format("hydra: unknown command \"{}\"{}", argv[1],
                     answer.empty() ? known_instead(argv[1], names) : fmt::format("; {}", answer));
}

/// Who has only the program begins here.
constexpr const char* first_steps =
    "From the folder of a Hugging Face checkpoint and a file of conversations to a trained model:\n"
    "    hydra init llama talks.jsonl  writes workload.toml\n"
    "    hydra plan workload.toml      says what it takes\n"
    "    hydra train workload.toml     trains, and says what to type next\n"
    "docs/tutorial.md goes on from there, docs/workload.md has all keys.";

/// Declares all commands; `chosen` becomes the action of the one on the command line.
void declare_all(CLI::App& app, command_action& chosen) {
  app.set_version_flag("--version", fmt::format("hydra {}", version));
  app.require_subcommand(1);
  for (const command& c : commands()) {
    CLI::App* const sub = app.add_subcommand(c.name, c.help);
    command_line line{*sub};
    sub->callback([&chosen, action = c.declare(line)] { chosen = action; });
  }
  app.footer(first_steps);  // after the commands, which would take it over
}

/// Its long options, without dashes.
std::vector<std::string> long_options_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* o : command.get_options()) std::ranges::copy(o->get_lnames(), std::back_inserter(names));
  return names;
}

/// What the arguments mean that the command does not take, or how a whole line looks, and where it has its help.
void tell_of(const CLI::App& command, bool lacks_argument) {
  if (lacks_argument && !command.get_footer().empty()) tell_line(command.get_footer());
  const auto lines = lines_on_unexpected(command.remaining(), long_options_of(command));
  for (const std::string& line : lines) tell_line(line);
  if (lines.empty() && command.remaining_size() > 0 && command.get_option_no_throw("--set") != nullptr)
    tell_line("a key of the workload is set by --set, such as --set model.optimizer.learning_rate=1e-3");
  tell_line(fmt::format("hydra {} --help lists its options", command.get_name()));
}

bool lacks_value(const CLI::ParseError& e) { return std::string_view{e.what()}.ends_with(" missing"); }

/// The option that the message is about; null for another message.
const CLI::Option* option_in(const CLI::App& app, std::string_view message) {
  for (const CLI::App* sub : app.get_subcommands())
    for (const CLI::Option* o : sub->get_options())
      if (message.starts_with(o->get_name() + ": ")) return o;
  return nullptr;
}

/// CLI11 says of an option without its value how many of which type are missing, not what they are.
std::string message_of(const CLI::App& app, const CLI::ParseError& e) {
  const CLI::Option* const o = lacks_value(e) ? option_in(app, e.what()) : nullptr;
  if (!o) return e.what();
  return fmt::format("{} needs a value behind it ({}): {}", o->get_name(), o->get_type_name(), o->get_description());
}

/// Help and version are answers; everything else is a wrong command line.
int answer(const CLI::App& app, const CLI::ParseError& e) {
  if (e.get_exit_code() == 0) return app.exit(e);
  tell_line("hydra: " + message_of(app, e));
  const bool lacks_argument = dynamic_cast<const CLI::RequiredError*>(&e) != nullptr || lacks_value(e);
  for (const CLI::App* sub : app.get_subcommands()) tell_of(*sub, lacks_argument);
  if (app.get_subcommands().empty()) tell_line("\n" + app.help());
  return bad_input;
}

int run(int argc, const char* const* argv) {
  if (const auto text = unknown_command(argc, argv)) return complain({fault_code::bad_input, *text});
  CLI::App app{"Trains many deep-learning models, each larger than device memory, on a few devices at once.", "hydra"};
  command_action chosen;
  declare_all(app, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return answer(app, e);
  }
  return chosen();
}

int run_or_complain(int argc, const char* const* argv) {
  try {
    return run(argc, argv);
  } catch (const std::system_error& e) {
    if (!std::ferror(stdout)) return complain(to_fault(std::current_exception()));
    std::clearerr(stdout);  // reported here
    return complain_of_output(e.code().message());
  } catch (...) {
    return complain(to_fault(std::current_exception()));
  }
}

/// A write beyond a limit on the size of files (ulimit -f) fails then, as on a full disk, instead of ending the
/// process.
void fail_at_limit_of_files() { std::signal(SIGXFSZ, SIG_IGN); }

/// For connections to the cluster's port, which strangers can hold open, too: the usual limit is one for programs that
/// use select(), and a checkpoint needs descriptors as well.
void use_all_descriptors() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);  // if it fails, the usual limit stays
}

}  // namespace

int run_program(int argc, const char* const* argv) noexcept {
  fail_at_limit_of_files();
  use_all_descriptors();
  const int status = run_or_complain(argc, argv);
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && !std::ferror(stdout)) return status;
  const int unwritten = complain_of_output(flushed ? "a part is missing" : std::generic_category().message(errno));
  return status == all_done ? unwritten : status;
}

void end_at_once(int status) {
  std::cout.flush();
  std::fflush(nullptr);
#ifdef __SANITIZE_ADDRESS__
  std::exit(status);
#else
  ::_exit(status);
#endif
}

}  // namespace hydra::apps
