#include "models/data/stored_template.hpp"

#include "models/data/chat_jinja.hpp"
#include "models/data/jinja_texts.hpp"
#include "models/weights/model_config.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/base/text_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace hydra {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct stored_template {
  fs::path file;
  std::string text;
};

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

std::optional<stored_template> find_stored(const fs::path& folder) {
  const fs::path jinja = folder / "chat_template.jinja", file = folder / "tokenizer_config.json";
  if (fs::is_regular_file(jinja)) return stored_template{jinja, read_text(jinja, text_kind::settings)};
  if (!fs::is_regular_file(file)) return std::nullopt;
  const model_config settings = model_config::read(file);
  if (!settings.has("chat_template")) return std::nullopt;
  return stored_template{file, text_in(settings.content().at("chat_template"))};
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

std::optional<std::string> note_of_stored_template(const fs::path& tokenizer, const template_choice& chosen,
                                                   const chat_marks& marks) {
  if (tokenizer.empty()) return std::nullopt;
  const auto stored = find_stored(fs::is_directory(tokenizer) ? tokenizer : tokenizer.parent_path());
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
