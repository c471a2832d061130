#include "apps/commands/text_source.hpp"

#include "apps/commands/generation_notes.hpp"
#include "apps/commands/tokenizer_files.hpp"
#include "apps/run_folder/files_of_training.hpp"
#include "apps/run_folder/run_folder.hpp"
#include "apps/run_folder/saved_run.hpp"
#include "apps/run_folder/saved_weights.hpp"
#include "apps/workload/check_file.hpp"
#include "models/data/stored_template.hpp"
#include "models/families/exported_folder.hpp"
#include "models/families/hub_folder.hpp"
#include "models/weights/adapter_folder.hpp"
#include "models/weights/generation_config.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/path_kind.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

/// Data without samples, for a model that only generates.
class any_text final : public data_source {
 public:
  explicit any_text(std::int64_t context) : context_(context) {}
  std::size_t samples(split) const override { return 0; }
  tensor_spec sample_input() const override { return {{context_}, element::i64}; }
  tensor_spec sample_target() const override { return sample_input(); }
  std::int64_t classes() const override { return 1; }
  std::string describe() const override { return "text to be generated"; }
  std::size_t read(split, std::size_t, std::span<std::byte>, std::span<std::byte>) const override { return 0; }

 private:
  std::int64_t context_;
};

void require_writer(const chain_description& d, const std::string& who) {
  if (d.family == exported_family)
    refuse(fmt::format(
        "{}: Hydra does not generate by exported models; `hydra export` writes the weights for the module's "
        "load_state_dict(), and PyTorch generates",
        who));
  if (d.context == 0 || d.form != sample_form::causal)
    refuse(fmt::format("{}: models of the family {} write no text; those of gemma, gpt2, llama and phi3 do", who,
                       d.family));
}

/// What the settings in a folder say of generation; `config`: the text of config.json.
void add_settings(const text_source_options& o, const std::string& config, const fs::path& folder, text_source& s) {
  for (const std::int64_t end : stored_ends(config, folder, wrong_ends::refused)) s.ends.insert(end);
  for (std::string& note : notes_on_generation(folder, o.said)) s.notes.push_back(std::move(note));
}

/// By the tokenizer that --tokenizer names, else the usual one; null if there is none.
std::optional<tokenizer_choice> choice_of(const text_source_options& o, const std::optional<tokenizer_choice>& usual) {
  return o.tokenizer ? named_tokenizer(*o.tokenizer) : usual;
}

std::shared_ptr<const tokenizer> words_by(const std::optional<tokenizer_choice>& choice) {
  return choice ? open_tokenizer(*choice) : nullptr;
}

std::optional<tokenizer_choice> tokenizer_in(const fs::path& folder) {
  return has_tokenizer(folder) ? std::optional{tokenizer_choice{.file = folder}} : std::nullopt;
}

/// Nothing is dropped where nothing is trained, whatever a checkpoint says of dropout.
chain_description describe_writer(const fs::path& folder, std::int64_t rows = 0) {
  return describe_from(folder, is_exported(folder) ? from_options{} : from_options{.dropout = 0, .rows = rows});
}

void add_chat(const template_choice& format, text_source& s) {
  s.chat = std::make_shared<const chat_template>(format, *s.words);
  if (const auto end = s.chat->end_of_turn()) s.ends.insert(*end);
}

/// That of a checkpoint is read when it is asked for: nothing else needs it.
void add_stored_chat(const text_source_options& o, const tokenizer_choice& words, text_source& s) {
  if (o.chats && s.words && has_stored_template(words.file)) add_chat(with_stored({}, words, marks_of(*s.words)), s);
}

text_source from_hub(const text_source_options& o) {
  const fs::path folder{o.source};
  const chain_description d = describe_writer(folder);
  require_writer(d, o.source);
  text_source s{std::make_shared<const chain>(d.build(any_text{d.context})), d.context};
  add_settings(o, s.model->hub().config, folder, s);
  const auto choice = choice_of(o, tokenizer_in(folder));
  s.words = words_by(choice);
  if (s.words) s.special = s.words->special();
  add_stored_chat(o, choice.value_or(tokenizer_choice{.file = folder}), s);
  return s;
}

/// Whether its weights are the adapter's is seen by adapter_folder::adapt().
fs::path base_of(const adapter_folder& adapter, const text_source_options& o) {
  if (o.bases.size() > 1) refuse(fmt::format("--base: an adapter has one base; {} are given", o.bases.size()));
  const fs::path base = o.bases.empty() ? adapter.base() : fs::path{o.bases.front()};
  if (kind_of(base) == fs::file_type::directory) return base;
  if (!o.bases.empty()) refuse(fmt::format("--base: \"{}\" is not a folder", shown(base.string())));
  refuse(fmt::format(
      "{}: base_model_name_or_path of adapter_config.json is \"{}\", which is not a folder: give the folder of the "
      "adapter's base by --base FOLDER, or generate by what hydra export RUN MODEL FOLDER --merge writes",
      o.source, shown(base.string())));
}

/// The base of an adapter, with as many rows for tokens as the adapter has: those of new tokens, and padding.
chain base_for(const adapter_folder& adapter, const chain_description& d) {
  chain plain = d.build(any_text{d.context});
  const std::int64_t rows = adapter.rows_beyond(plain);
  return rows == 0 ? plain : describe_writer(d.checkpoint, rows).build(any_text{d.context});
}

text_source from_adapter(const text_source_options& o) {
  const fs::path folder{o.source};
  const adapter_folder adapter{folder};
  const chain_description d = describe_writer(base_of(adapter, o));
  require_writer(d, o.source);
  const auto own = tokenizer_in(folder);
  const auto choice = choice_of(o, own ? own : tokenizer_in(d.checkpoint));
  const auto words = words_by(choice);
  chain model = adapter.adapt(base_for(adapter, d));
  text_source s{std::make_shared<const chain>(model.unfreeze().join()), d.context, words};
  if (std::optional<std::string> note = note_on_lone_settings(folder)) s.notes.push_back(std::move(*note));
  add_settings(o, s.model->hub().config, generation_folder(folder, d.checkpoint), s);
  if (s.words) s.special = s.words->special();
  add_stored_chat(o, choice.value_or(tokenizer_choice{}), s);
  return s;
}

/// "gpt-1, gpt-2, ...": the first ones.
std::string names_in(const workload& w) {
  constexpr std::size_t most = 20;
  std::string names;
  for (std::size_t i = 0; i < std::min(w.models.size(), most); ++i)
    names += (i == 0 ? "" : ", ") + shown(w.models[i].description.name);
  return names + (w.models.size() > most ? ", ..." : "");
}

const model_entry& model_of(const workload& w, const text_source_options& o) {
  if (o.model) return find_model(w, *o.model);
  if (w.models.size() == 1) return w.models.front();
  refuse(fmt::format("{} has {} models: {}; choose one with --model", o.source, w.models.size(), names_in(w)));
}

/// Texts of their own; the windows of a continuous text do not begin as such texts do.
bool has_records(const data_description& data) {
  return !std::holds_alternative<text_files>(data.what) && !std::holds_alternative<token_files>(data.what);
}

text_source from_run(const text_source_options& o) {
  const workload w = read_run(o.source, moved_bases{o.bases});
  const model_entry& m = model_of(w, o);
  require_writer(m.description.chain, m.description.name);
  const auto checkpoint = checkpoint_to_read(o.source, m.description.name, o.best);
  const auto d = with_checkpoint(m.description.chain, checkpoint);
  chain model = build_chain(o.source, w, m, d);
  text_source s{std::make_shared<const chain>(model.unfreeze().join()), d.context};
  add_settings(o, s.model->hub().config, generation_folder(d.adapter, d.checkpoint), s);
  const data_description& data = w.data.at(m.data).description;
  if (!o.tokenizer) require_tokenizer_of_training(checkpoint, data, d.wants());
  const auto choice = choice_of(o, o.tokenizer ? std::nullopt : tokenizer_for(data, d.wants()));
  s.words = words_by(choice);
  if (s.words) s.special = s.words->special();
  if (!has_records(data)) s.special.before.clear();
  const auto chat = s.words ? chat_format_of(data, d.wants(), *s.words) : std::nullopt;
  if (chat)
    add_chat(*chat, s);
  else
    add_stored_chat(o, choice.value_or(tokenizer_choice{}), s);
  return s;
}

}  // namespace

text_source open_text_source(const text_source_options& o) {
  const fs::path folder{o.source};
  if (kind_of(folder) == fs::file_type::not_found)
    refuse(fmt::format("\"{}\" does not exist; the folder of a checkpoint or a run is expected{}", shown(o.source),
                       hub_hint(folder)));
  if (kind_of(folder) != fs::file_type::directory)
    refuse(fmt::format("\"{}\" is a file; the folder of a checkpoint or a run is expected", shown(o.source)));
  const auto has = [&](const char* file) { return kind_of(folder / file) == fs::file_type::regular; };
  const bool run = has(workload_file), whole = has("config.json");
  if (!whole && !has("adapter_config.json")) refuse_run_of_program(folder);
  if (!run && !whole && !has("adapter_config.json"))
    refuse(
        fmt::format("\"{}\" holds neither {} of a run nor config.json of a checkpoint, nor adapter_config.json of an "
                    "adapter",
                    o.source, workload_file));
  if (!run && (o.model || o.best))
    refuse(fmt::format("{}: \"{}\" is not a run folder but one checkpoint", o.model ? "--model" : "--best", o.source));
  if (!run && whole && !o.bases.empty())
    refuse(fmt::format("--base: \"{}\" is a whole checkpoint, which needs no base", o.source));
  text_source s = run ? from_run(o) : whole ? from_hub(o) : from_adapter(o);
  if (s.special.end_of_text) s.ends.insert(*s.special.end_of_text);
  return s;
}

}  // namespace hydra::apps
