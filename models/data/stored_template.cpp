#include "models/data/stored_template.hpp"

#include "models/data/chat_jinja.hpp"
#include "models/data/jinja_texts.hpp"
#include "models/weights/model_config.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/base/text_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace hydra {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// A text, or a list of templates with names, of which a conversation is written by the default one.
std::string text_in(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  std::string all;
  if (value.is_array())
    for (const json& one : value)
      if (one.is_object() && one.contains("template") && one["template"].is_string() &&
          (!one.contains("name") || one["name"] == "default"))
        all += one["template"].get<std::string>();
  return all;
}

fs::path folder_of(const fs::path& tokenizer) {
  return fs::is_directory(tokenizer) ? tokenizer : tokenizer.parent_path();
}

/// Nothing if there is no text: a list of templates may have no default one.
std::optional<stored_template> find_stored(const fs::path& tokenizer) {
  if (tokenizer.empty()) return std::nullopt;
  const fs::path folder = folder_of(tokenizer);
  const fs::path jinja = folder / "chat_template.jinja", file = folder / "tokenizer_config.json";
  if (fs::is_regular_file(jinja)) return stored_template{jinja, read_text(jinja, text_kind::settings), {}};
  if (!fs::is_regular_file(file)) return std::nullopt;
  const model_config settings = model_config::read(file);
  if (!settings.has("chat_template")) return std::nullopt;
  return stored_template{file, text_in(settings.content().at("chat_template")), {}};
}

/// A special token of the settings: a text, or an object with its content.
std::optional<std::string> token_in(const json& value) {
  const bool is_object = value.is_object() && value.contains("content");
  const json& text = is_object ? value.at("content") : value;
  return text.is_string() ? std::optional{text.get<std::string>()} : std::nullopt;
}

void add_tokens_in(const fs::path& file, std::map<std::string, std::string>& tokens) {
  if (!fs::is_regular_file(file)) return;
  const model_config settings = model_config::read(file);
  for (const auto& [name, value] : settings.content().items())
    if (const auto token = name.ends_with("_token") ? token_in(value) : std::nullopt) tokens.emplace(name, *token);
}

/// Those that transformers gives a template: of the settings, and those that the tokenizer has without them.
std::map<std::string, std::string> special_tokens_in(const fs::path& folder, const chat_marks& marks) {
  std::map<std::string, std::string> tokens;
  add_tokens_in(folder / "tokenizer_config.json", tokens);
  add_tokens_in(folder / "special_tokens_map.json", tokens);
  if (!marks.begin_of_text.empty()) tokens.emplace("bos_token", marks.begin_of_text);
  if (!marks.end_of_text.empty()) tokens.emplace("eos_token", marks.end_of_text);
  return tokens;
}

std::vector<std::string> quoted_names() {
  std::vector<std::string> all;
  for (const std::string& name : chat_template::names()) all.push_back(fmt::format("\"{}\"", name));
  return all;
}

[[noreturn]] void refuse_without_stored(const fs::path& tokenizer, bool named) {
  const std::string where = tokenizer.empty() ? "the tokenizer has no folder" : folder_of(tokenizer).string();
  refuse(fmt::format(
      "{}, and {}; choose template = {}, or write one as a table of what is written around each role's messages",
      named ? "template = \"checkpoint\" wants a chat template" : "`template` is not given",
      tokenizer.empty()
          ? where + " to look for one"
          : where + " has none (chat_template.jinja, or a default chat_template in tokenizer_config.json)",
      fmt::join(quoted_names(), ", ")));
}

/// It would write another date every day.
bool wants_date(const std::string& text) {
  return text.find("strftime_now") != text.npos && text.find("strftime_now is defined") == text.npos;
}

/// Beside special tokens. The blanks are those of 7B Instruct v0.2: v0.3 has others.
std::vector<std::string> marks_written_by(const std::string& name) {
  std::vector<std::string> marks = chat_template::tokens_of(name);
  if (name == "mistral") marks = {"[INST] ", " [/INST]"};
  if (name == "qwen") marks.emplace_back("You are Qwen, created by Alibaba Cloud. You are a helpful assistant.");
  return marks;
}

bool writes_all(const std::string& text, const std::vector<std::string>& marks) {
  return std::ranges::all_of(marks, [&](const std::string& mark) { return text.find(mark) != std::string::npos; });
}

/// The longest line that the stored template may write and a named one does not; empty: there is none.
std::string lacking_in(const std::string& name, const std::string& stored, const chat_marks& marks) {
  const std::string written = marks.before + chat_template::example_of(name, marks);
  std::string longest;
  for (const std::string& line : jinja_texts(stored))
    if (line.size() > longest.size() && written.find(line) == written.npos) longest = line;
  return longest;
}

}  // namespace

bool has_stored_template(const fs::path& tokenizer) {
  const auto stored = find_stored(tokenizer);
  return stored && !stored->text.empty();
}

template_choice with_stored(template_choice chosen, const tokenizer_choice& read_by, const chat_marks& marks) {
  const fs::path& tokenizer = read_by.file.empty() ? read_by.vocab : read_by.file;
  const bool named = chosen.name == chat_template::of_checkpoint;
  if (!named && (!chosen.name.empty() || !chosen.roles.empty())) return chosen;
  chosen.stored = find_stored(tokenizer);
  if (!chosen.stored || chosen.stored->text.empty()) refuse_without_stored(tokenizer, named);
  chosen.name = chat_template::of_checkpoint;
  chosen.stored->tokens = special_tokens_in(folder_of(tokenizer), marks);
  return chosen;
}

std::optional<std::string> note_of_stored_template(const fs::path& tokenizer, const template_choice& chosen,
                                                   const chat_marks& marks) {
  if (chosen.stored && wants_date(chosen.stored->text))
    return fmt::format(
        "{}: its chat template writes the date of today, which is 26 Jul 2024 here, so that a run is the "
        "same on another day",
        chosen.stored->file.string());
  const auto stored = chosen.stored ? std::nullopt : find_stored(tokenizer);
  if (!stored || stored->text == chat_jinja(chosen, marks)) return std::nullopt;
  const std::string lacking = chosen.name.empty() ? "" : lacking_in(chosen.name, stored->text, marks);
  if (!chosen.name.empty() && lacking.empty() && writes_all(stored->text, marks_written_by(chosen.name)))
    return std::nullopt;
  return fmt::format(
      "{}: its chat template is not used: conversations are written {}{}, as `hydra data` shows; a model that "
      "was trained on conversations knows its own marks best",
      stored->file.string(), chosen.name.empty() ? "with the marks of the workload" : "as " + chosen.name,
      lacking.empty() ? "" : fmt::format(", without its \"{}\"", shown(lacking)));
}

}  // namespace hydra
