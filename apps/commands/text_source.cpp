#include "apps/commands/text_source.hpp"

#include "apps/commands/text_ends.hpp"
#include "apps/commands/tokenizer_files.hpp"
#include "apps/run_folder/run_folder.hpp"
#include "apps/run_folder/saved_run.hpp"
#include "apps/run_folder/saved_weights.hpp"
#include "models/data/chat_jinja.hpp"
#include "models/families/exported_folder.hpp"
#include "models/families/hub_folder.hpp"
#include "models/weights/model_config.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/path_kind.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

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

/// A member of a JSON value from an unchecked file; null if the value is not an object or has no such member.
const json& member(const json& of, const char* key) {
  static const json none;
  const auto found = of.find(key);  // the end if `of` is not an object
  return found == of.end() ? none : *found;
}

/// The token that a tokenizer.json's template (the whole post_processor, or one of a sequence) puts before a single text.
std::optional<std::string> first_of_template(const json& post) {
  const json& type = member(post, "type");
  if (type == "Sequence")
    for (const json& each : member(post, "processors"))
      if (auto token = first_of_template(each)) return token;
  const json& single = member(post, "single");
  if (type != "TemplateProcessing" || !single.is_array() || single.empty()) return std::nullopt;
  const json& id = member(member(single.front(), "SpecialToken"), "id");
  return id.is_string() ? std::optional{id.get<std::string>()} : std::nullopt;
}

json content_if_there(const fs::path& file) {
  return fs::is_regular_file(file) && file.extension() != ".model" ? model_config::read(file).content()
                                                                   : json::object();
}

/// tokenizer_config.json takes precedence; else the template of tokenizer.json, which is `chosen` or in the folder.
std::optional<std::int64_t> begin_of(const fs::path& chosen, const tokenizer& words) {
  const bool is_folder = fs::is_directory(chosen);
  const json settings = content_if_there((is_folder ? chosen : chosen.parent_path()) / "tokenizer_config.json");
  if (const auto adds = settings.find("add_bos_token"); adds != settings.end() && adds->is_boolean())
    return *adds ? words.special().begin_of_text : std::nullopt;
  const json file = content_if_there(is_folder ? chosen / "tokenizer.json" : chosen);
  const auto token = first_of_template(member(file, "post_processor"));
  return token ? words.id_of(*token) : std::nullopt;
}

void add_stored_ends(const fs::path& checkpoint, text_source& s) {
  for (const std::int64_t end : stored_ends(s.model->hub().config, checkpoint)) s.ends.insert(end);
}

/// By the tokenizer that --tokenizer names, else the usual one; null if there is none.
std::shared_ptr<const tokenizer> words_by(const text_source_options& o, const std::optional<tokenizer_choice>& usual) {
  const auto choice = o.tokenizer ? named_tokenizer(*o.tokenizer) : usual;
  return choice ? open_tokenizer(*choice) : nullptr;
}

text_source from_hub(const text_source_options& o) {
  const fs::path folder{o.source};
  if (o.model || o.best)
    refuse(fmt::format("{}: \"{}\" is no run folder but one checkpoint", o.model ? "--model" : "--best", o.source));
  const chain_description d = describe_from(folder, {});
  require_writer(d, o.source);
  text_source s{std::make_shared<const chain>(d.build(any_text{d.context})), d.context};
  add_stored_ends(folder, s);
  s.words = words_by(o, has_tokenizer(folder) ? std::optional{tokenizer_choice{.file = folder}} : std::nullopt);
  return s;
}

const model_entry& model_of(const workload& w, const text_source_options& o) {
  if (o.model) return find_model(w, *o.model);
  if (w.models.size() != 1) refuse(fmt::format("{} has {} models; choose one with --model", o.source, w.models.size()));
  return w.models.front();
}

text_source from_run(const text_source_options& o) {
  const workload w = read_run(o.source);
  const model_entry& m = model_of(w, o);
  require_writer(m.description.chain, m.description.name);
  const auto checkpoint = checkpoint_to_read(o.source, m.description.name, o.best);
  const auto d = with_checkpoint(m.description.chain, checkpoint);
  chain model = build_chain(o.source, w, m, d);
  text_source s{std::make_shared<const chain>(model.unfreeze()), d.context};
  add_stored_ends(d.checkpoint, s);
  const data_description& data = w.data.at(m.data).description;
  if (!o.tokenizer) require_tokenizer_of_training(checkpoint, data, d.wants());
  s.words = words_by(o, o.tokenizer ? std::nullopt : tokenizer_for(data, d.wants()));
  if (const template_choice* const chat = chat_format_of(data); chat && s.words)
    if (const auto end = end_of_turn(*chat, *s.words)) s.ends.insert(*end);
  return s;
}

}  // namespace

text_source open_text_source(const text_source_options& o) {
  const fs::path folder{o.source};
  if (kind_of(folder) != fs::file_type::directory) refuse(fmt::format("\"{}\" is no folder of a checkpoint or a run", o.source));
  const bool run = kind_of(folder / workload_file) == fs::file_type::regular;
  if (!run && kind_of(folder / "config.json") != fs::file_type::regular)
    refuse(fmt::format("\"{}\" holds neither {} of a run nor config.json of a checkpoint", o.source, workload_file));
  text_source s = run ? from_run(o) : from_hub(o);
  if (!run && s.words && o.tokenizer != "bytes") s.begin = begin_of(o.tokenizer.value_or(o.source), *s.words);
  if (s.words && s.words->special().end_of_text) s.ends.insert(*s.words->special().end_of_text);
  return s;
}

}  // namespace hydra::apps
