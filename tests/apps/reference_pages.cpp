#include "tests/apps/reference_pages.hpp"

#include "apps/commands/command.hpp"
#include "apps/commands/command_line.hpp"
#include "apps/commands/other_commands.hpp"
#include "apps/workload/other_words.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <string_view>
#include <vector>

namespace hydra::apps {

namespace {

constexpr const char* generated = "<!-- Made from the program by tests/apps/documentation.cpp. Do not edit. -->";

/// Text in the cell of a table.
std::string cell(std::string_view text) {
  std::string shown;
  for (const char c : text) {
    if (c == '|' || c == '<') shown += '\\';
    shown += c;
  }
  return shown;
}

std::string row(const key_rule& key, const std::string& before) {
  const std::string_view fallback = key.required           ? "required"
                                    : key.fallback.empty() ? "none"
                                                           : std::string_view{key.fallback};
  return fmt::format("| `{}{}` | {} | {} | {} |\n", before, key.name, cell(fallback), cell(key.help),
                     cell(describe(key)));
}

std::string rows(const std::vector<key_rule>& keys, const std::string& before) {
  std::string text;
  for (const key_rule& key : keys) {
    text += row(key, before);
    if (!key.inner.empty() && key.inner[0].variants.empty()) text += rows(key.inner[0].keys, before + key.name + ".");
  }
  return text;
}

std::string table(const std::vector<key_rule>& keys) {
  return keys.empty() ? "It takes no further keys.\n"
                      : "| key | default | meaning | allowed |\n|---|---|---|---|\n" + rows(keys, "");
}

std::string section(const std::string& heading, const std::string& name, const table_rules& rules) {
  std::string text = fmt::format("\n{} {}\n\n{}", heading, name, table(rules.keys));
  for (const table_variant& v : rules.variants) {
    const std::string choice = v.name == rules.instead ? fmt::format("{} = ...", v.name)
                                                       : fmt::format("{} = \"{}\"", rules.selector, v.name);
    text += fmt::format("\n{}# {}, `{}`\n\n{}", heading, name, choice, table(v.keys));
  }
  for (const key_rule& key : rules.keys)
    if (!key.inner.empty() && !key.inner[0].variants.empty())
      text += section(heading + "#", fmt::format("`{}` of {}", key.name, name), key.inner[0]);
  return text;
}

std::string heading_of(const key_rule& table) {
  switch (table.kind) {
    case value_kind::table_list:
      return fmt::format("`[[{}]]`", table.name);
    case value_kind::named_tables:
      return fmt::format("`[{}.NAME]`", table.name);
    default:
      return fmt::format("`[{}]`", table.name);
  }
}

/// In backquotes.
std::string name_here(std::string_view name) { return name.empty() ? "nothing" : fmt::format("`{}`", name); }

/// Patterns of parameters have stars.
std::string note_cell(std::string_view note) {
  std::string shown;
  for (const char c : cell(note)) shown += c == '*' ? "\\*" : std::string{c};
  return shown;
}

std::string options_of(const CLI::App& app) {
  std::string text = "| option | meaning |\n|---|---|\n";
  for (const CLI::Option* o : app.get_options())
    text += fmt::format("| `{}`{} | {} |\n", o->get_name(false, true),
                        o->get_required() ? ", required" : "", cell(o->get_description()));
  return text;
}

}  // namespace

std::string workload_page(const table_rules& rules, const std::string& example) {
  std::string text = fmt::format(
      "# Keys of a workload file\n\n{}\n\n"
      "A workload file is TOML. `hydra devices` and `hydra families` print the keys of devices and model families, "
      "those\n"
      "of plug-ins included. [Running](running.md) explains grids, `--set`, paths and units. A complete file,\n"
      "`apps/workloads/quickstart.toml`:\n\n```toml\n{}```\n",
      generated, example);
  for (const key_rule& key : rules.keys) text += section("##", heading_of(key), key.inner.at(0));
  return text;
}

std::string commands_page() {
  std::string text = fmt::format(
      "# Commands\n\n{}\n\n"
      "Results go to stdout; progress, notes and the log go to stderr. [Running](running.md) lists the exit "
      "statuses.\n",
      generated);
  for (const command& c : commands()) {
    CLI::App app{c.help, "hydra " + c.name};
    command_line line{app};
    const auto action = c.declare(line);
    text += fmt::format("\n## `hydra {}`\n\nThis command {}.\n\n{}", c.name, c.help, options_of(app));
  }
  return text;
}

std::string other_tools_page() {
  std::string text = fmt::format(
      "# Words of other tools\n\n{}\n\n"
      "What settings of transformers (`TrainingArguments`, `config.json`), TRL, PEFT, LLaMA-Factory, torchtune, axolotl "
      "and\n"
      "Lightning are called here, and where they mean something else. The program says the same where it meets such a "
      "word in a\n"
      "workload file, in `--set` and on the command line. Keys are written as `--set` takes them; `NAME` is that of a "
      "data\n"
      "table. [workload.md](workload.md) has all keys.\n\n"
      "## Keys\n\n| there | here | note |\n|---|---|---|\n",
      generated);
  for (const other_word& w : other_words())
    text += fmt::format("| `{}` | {} | {} |\n", w.word, name_here(w.key), note_cell(w.note));
  text += "\n## Values\n\n| key | there | here | note |\n|---|---|---|---|\n";
  for (const other_value& v : other_values())
    text += fmt::format("| `{}` | `{}` | {} | {} |\n", v.key, v.value, name_here(v.here), note_cell(v.note));
  text += "\n## Commands\n\n| there | here |\n|---|---|\n";
  for (const other_command& c : other_commands()) text += fmt::format("| `{}` | {} |\n", c.name, cell(c.answer));
  return text;
}

}  // namespace hydra::apps
