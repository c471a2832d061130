#include "apps/commands/first_workload.hpp"

#include "apps/commands/commented_line.hpp"
#include "apps/commands/found_devices.hpp"
#include "apps/workload/to_toml.hpp"
#include "models/data/stored_template.hpp"
#include "models/families/exported_folder.hpp"
#include "models/families/hub_folder.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

std::string quoted_toml(const std::string& text) { return inline_toml(text_value(text, {})); }

// -- what there is ----------------------------------------------------------------------------------------------------

bool is_of_images(const chain_description& chain) { return chain.family == "vit" || chain.family == "resnet"; }

bool is_of_texts_alone(const found_kind& data) {
  return data.kind == "text" || (data.kind == "jsonl" && data.answer.empty()) || data.kind == "csv";
}

/// A head of classes is new unless the checkpoint has one.
chain_description chain_for(const fs::path& folder, const found_kind& data, bool& new_head) {
  const bool classes = !data.label.empty() || data.kind == "images";
  const auto with_new_head = [&] {
    new_head = true;
    return describe_from(folder, {.head = "classification"});
  };
  chain_description chain;
  try {
    chain = describe_from(folder, {});
  } catch (const fault_error&) {  // such as an encoder without any head
    if (!classes) throw;
    return with_new_head();
  }
  const bool has_other_head = is_of_images(chain) || chain.form == sample_form::masked;
  return classes && has_other_head ? with_new_head() : chain;
}

void require_data(const first_workload& w) {
  const auto refuse_data = [&](std::string_view takes) {
    refuse(w.files.front(), fmt::format("is data of kind = \"{}\", and {} ({}) takes {}", w.data.kind,
                                        w.folder.string(), w.chain.family, takes));
  };
  if (is_of_images(w.chain)) {
    if (w.data.kind != "images") refuse_data("images: a folder that has a folder for each class");
    return;
  }
  if (w.data.kind == "images") refuse_data("texts: JSON lines, a JSON array, a table or a text");
  if (w.chain.form == sample_form::causal) return;
  if (!is_of_texts_alone(w.data)) refuse_data("texts, with classes or without, and no answers");
  if (w.chain.form == sample_form::labelled && w.data.label.empty())
    refuse_data("texts with classes: records with \"text\" and \"label\"");
}

/// What fits most machines; of a text so few that it has samples.
std::int64_t context_for(const first_workload& w) {
  std::int64_t context = std::min<std::int64_t>(w.chain.context, w.chain.form == sample_form::causal ? 1024 : 256);
  if (w.data.kind != "text") return context;
  const auto bytes = static_cast<std::int64_t>(fs::file_size(w.files.front()));
  while (context > 16 && context * 256 > bytes) context /= 2;
  return context;
}

/// The first whose special tokens the tokenizer has; empty: none.
std::string named_template(const tokenizer& by) {
  for (const std::string& name : chat_template::names()) {
    try {
      const chat_template tried{{.name = name}, by};
      if (!chat_template::tokens_of(name).empty()) return name;
    } catch (const fault_error&) {  // it lacks tokens
    }
  }
  return {};
}

/// An answer ends as a text does, where a text has an end.
std::string plain_template(const tokenizer& by) {
  std::string end = quoted_toml(marks_of(by).end_of_text);
  end.insert(end.size() - 1, R"(\n)");
  return fmt::format(R"({{ system = ["", "\n\n"], user = ["User: ", "\n"], assistant = ["Assistant: ", {}] }})", end);
}

/// Empty: the key is left out, for the model's own is there.
std::string template_for(const fs::path& folder) {
  if (has_stored_template(folder)) return "";
  const auto by = open_tokenizer({.file = folder});
  const std::string name = named_template(*by);
  return name.empty() ? plain_template(*by) : quoted_toml(name);
}

// -- what is written --------------------------------------------------------------------------------------------------

bool adapts(const first_workload& w) { return w.chain.form == sample_form::causal && !is_of_images(w.chain); }

std::string_view about_kind(const found_kind& data) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> all{
      {{"chat", "conversations; the loss is on what the assistant says (docs/running.md, conversations)"},
       {"alpaca", "instruction, input and output; the loss is on the output (docs/running.md, prompts and answers)"},
       {"prompt-completion", "the loss is on the completion (docs/running.md, prompts and answers)"},
       {"csv", "a line of names, then rows (docs/running.md, data)"},
       {"text", "one long text (docs/running.md, data)"},
       {"images", "a folder for each class (docs/running.md, data)"}}};
  const auto found = std::ranges::find(all, data.kind, &std::pair<std::string_view, std::string_view>::first);
  return found == all.end() ? "records (docs/running.md, prompts and answers)" : found->second;
}

std::string file_names(const first_workload& w) {
  std::vector<std::string> names;
  for (const fs::path& file : w.files) names.push_back(quoted_toml(file.string()));
  return names.size() == 1 ? names[0] : fmt::format("[{}]", fmt::join(names, ", "));
}

std::string field_lines(const first_workload& w) {
  const found_kind& d = w.data;
  std::string text;
  if (!d.answer.empty()) {
    text += commented("prompt = " + quoted_toml(d.prompt), "has no loss; {FIELD?} is a field that may be missing");
    text += commented("answer = " + quoted_toml(d.answer), "follows the prompt with nothing between them");
  }
  if (!d.text.empty()) text += commented("text = " + quoted_toml(d.text), "the column of texts");
  if (d.separator != ',')
    text += fmt::format("separator = \"{}\"\n", d.separator == '\t' ? "tab" : std::string{d.separator});
  if (!adapts(w) && !d.label.empty())
    text += commented(fmt::format("{} = {}", d.kind == "csv" ? "target" : "label", quoted_toml(d.label)),
                      "the class of each text");
  return text;
}

std::string data_lines(const first_workload& w) {
  std::string text = "[data.own]\n" + commented(fmt::format("kind = \"{}\"", w.data.kind), about_kind(w.data));
  text += commented("train = " + file_names(w), "relative paths start at the working directory");
  text += field_lines(w);
  if (!w.chat_template.empty())
    text += commented("template = " + w.chat_template, "how a conversation becomes a text; `hydra data` shows it");
  if (w.leaves_out)
    text += commented("bad_rows = \"leave-out\"", "some records cannot be read: `hydra plan` says which");
  if (w.data.kind == "text" || w.data.kind == "csv")
    return text + commented("# validation = \"FILE\"", "others, to compare the models by");
  return text + commented("validation_share = 0.05", "of the records, not trained on, to compare the models by");
}

std::string chain_line(const first_workload& w) {
  std::string keys = "from = " + quoted_toml(w.folder.string());
  if (w.context > 0) keys += fmt::format(", context = {}", w.context);
  if (w.new_head) keys += ", head = \"classification\"";
  const std::string about = w.context > 0
                                ? fmt::format("tokens of a sample, at most {}; memory grows with them", w.chain.context)
                                : "its weights";
  return commented(fmt::format("chain = {{ {} }}", keys), fmt::format("{}: {}", w.chain.family, about));
}

std::string model_lines(const first_workload& w) {
  std::string text = "[[model]]\n" + commented(fmt::format("name = \"{}-lr{{learning_rate}}\"", w.chain.family),
                                               "one model for each learning rate below");
  text += chain_line(w) + "data = \"own\"\n";
  if (adapts(w))
    text +=
        commented("adapter = { rank = 16 }",
                  "LoRA on all linear maps but the head; targets = [\"q_proj\", ...]: fewer (docs/checkpoints.md)");
  text += commented(fmt::format("batch_size = {}", w.batch_size), "samples for each step");
  if (w.batch_size > 1 && w.context > 0)
    text += commented(fmt::format("micro_batches = {}", w.batch_size),
                      "parts of a batch: fewer are faster and need more memory");
  text += commented("epochs = 3", fmt::format("of {} step{} each", w.steps_of_epoch, w.steps_of_epoch == 1 ? "" : "s"));
  text += commented("optimizer = { clip_norm = 1.0 }", "AdamW");
  text += commented("schedule = { kind = \"cosine\", warmup_ratio = 0.03 }", "of the learning rate");
  if (w.validates)
    text += commented(fmt::format("validate = {{ every_steps = {}, keep_best = true }}", w.steps_of_epoch),
                      "once an epoch");
  return text;
}

std::string learning_rates(const first_workload& w) {
  return "[model.grid]\n" +
         commented(fmt::format("learning_rate = [{}]", adapts(w) ? "1e-4, 2e-4, 4e-4" : "1e-5, 3e-5, 1e-4"),
                   "the models are trained at once and compared");
}

}  // namespace

first_workload find_first_workload(const fs::path& folder, const std::vector<fs::path>& files) {
  first_workload w{.folder = folder, .files = files, .data = find_kind(files)};
  if (fs::is_directory(folder) && is_exported(folder))
    refuse(folder, "is a module of hydra_export, whose samples only you know: docs/pytorch.md has a workload for one");
  w.chain = chain_for(folder, w.data, w.new_head);
  require_data(w);
  if (!is_of_images(w.chain)) w.context = context_for(w);
  if (w.data.kind == "chat") w.chat_template = template_for(folder);
  w.devices = found_devices();
  return w;
}

std::string to_text(const first_workload& w, const std::string& file) {
  const auto command = [&](const char* name, const char* does) {
    return fmt::format("#   {:<34}{}\n", fmt::format("hydra {} {}", name, file), does);
  };
  return fmt::format("# {} of one checkpoint, by learning rate.\n", adapts(w) ? "Adapters (LoRA)" : "Fine-tunings") +
         command("plan", "what it takes: shards, memory, time") +
         command("data", "the first samples, as they are trained") +
         command("train", "trains them; the results go to the run folder") +
         "# docs/workload.md has all keys, docs/running.md and docs/checkpoints.md say what they are for.\n\n" +
         "[run]\n" + commented("seed = 1", "of new parameters and of the order of samples") + "\n" + w.devices + "\n" +
         data_lines(w) + "\n" + model_lines(w) + "\n" + learning_rates(w);
}

}  // namespace hydra::apps
