#pragma once
// Declares the command line of a command. CLI11 takes seconds to compile: only command_line.cpp and program.cpp include
// it.

#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace hydra::apps {

/// A declared option; each call sets a property of it.
class declared_option {
 public:
  explicit declared_option(CLI::Option* is) : is_{is} {}

  declared_option& required();
  /// The help calls its value so.
  declared_option& takes(const std::string& value);
  /// Takes one value each time it is given, and may be given again; the help calls it `value`.
  declared_option& repeated();
  declared_option& repeated(const std::string& value);
  declared_option& within(int least, int most);
  /// Its value may be left out, and is `otherwise` then; the help calls it `value`.
  declared_option& optional(const std::string& value, const std::string& otherwise);
  /// The help shows the value that the variable has now.
  declared_option& shows_default();
  declared_option& needs(const declared_option& other);
  declared_option& excludes(const declared_option& other);
  bool is_given() const;  ///< once the command line is parsed

 private:
  CLI::Option* is_;
};

/// The command line of one command. Variables that options are read into outlive the parsing.
class command_line {
 public:
  explicit command_line(CLI::App& app) : app_{app} {}

  /// `name` is "--option", or a word for a positional argument. Values: std::string, std::vector<std::string>,
  /// int, std::int64_t, std::uint64_t, double, and std::optional of std::string, std::int64_t and std::uint64_t.
  template <class Value>
  declared_option add_option(const std::string& name, Value& into, const std::string& help);
  declared_option add_flag(const std::string& name, bool& into, const std::string& help);
  /// A whole command: the help ends with it, and so does the refusal of a line that lacks an argument or a value.
  void example(const std::string& line);

 private:
  CLI::App& app_;
};

}  // namespace hydra::apps
