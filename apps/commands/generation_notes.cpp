#include "apps/commands/generation_notes.hpp"

#include "models/weights/generation_config.hpp"
#include "models/weights/model_config.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/path_kind.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <optional>
#include <utility>

namespace hydra::apps {

namespace {

using nlohmann::json;

/// Values with which a key has no effect; of the last four, what `hydra generate` does without its options.
const json& off() {
  static const json values{{"diversity_penalty", 0},
                           {"encoder_repetition_penalty", 1},
                           {"epsilon_cutoff", 0},
                           {"eta_cutoff", 0},
                           {"guidance_scale", 1},
                           {"min_length", 0},
                           {"min_new_tokens", 0},
                           {"min_p", 0},
                           {"num_beam_groups", 1},
                           {"num_beams", 1},
                           {"no_repeat_ngram_size", 0},
                           {"penalty_alpha", 0},
                           {"repetition_penalty", 1},
                           {"typical_p", 1},
                           {"do_sample", true},
                           {"temperature", 1},
                           {"top_k", 0},
                           {"top_p", 1}};
  return values;
}

/// Keys that transformers before 4.26 wrote into config.json, and reads there where no generation_config.json is, with
/// the values that it wrote for who had chosen none.
const json& kept_in_config() {
  static const json usual{{"bad_words_ids", nullptr},
                          {"begin_suppress_tokens", nullptr},
                          {"diversity_penalty", 0},
                          {"do_sample", false},
                          {"exponential_decay_length_penalty", nullptr},
                          {"forced_bos_token_id", nullptr},
                          {"forced_eos_token_id", nullptr},
                          {"min_length", 0},
                          {"no_repeat_ngram_size", 0},
                          {"num_beam_groups", 1},
                          {"num_beams", 1},
                          {"remove_invalid_values", false},
                          {"repetition_penalty", 1},
                          {"suppress_tokens", nullptr},
                          {"temperature", 1},
                          {"top_k", 50},
                          {"top_p", 1},
                          {"typical_p", 1}};
  return usual;
}

std::optional<model_config> settings_in(const std::filesystem::path& folder) {
  if (const std::filesystem::path file = generation_file(folder); !file.empty()) return model_config::read(file);
  const std::filesystem::path file = folder / "config.json";
  if (folder.empty() || kind_of(file) != std::filesystem::file_type::regular) return std::nullopt;
  const model_config whole = model_config::read(file);
  json chosen = json::object();
  for (const auto& [key, usual] : kept_in_config().items())
    if (whole.has(key) && whole.content().at(key) != usual) chosen[key] = whole.content().at(key);
  return model_config{file.string(), std::move(chosen)};
}

bool is_off(const std::string& key, const json& value) { return value == false || off().value(key, json{}) == value; }

void ignore_without_effect(const model_config& config) {
  // who wrote it; tokens that generation_config.hpp and the tokenizer read; what is returned, and how it is computed
  config.ignore({"_commit_hash",
                 "_from_model_config",
                 "transformers_version",
                 "bos_token_id",
                 "decoder_start_token_id",
                 "eos_token_id",
                 "pad_token_id",
                 "output_attentions",
                 "output_hidden_states",
                 "output_logits",
                 "output_scores",
                 "return_dict_in_generate",
                 "use_cache",
                 "cache_config",
                 "cache_implementation",
                 "compile_config",
                 "continuous_batching_config",
                 "disable_compile",
                 "low_memory",
                 "max_cache_len",
                 "prefill_chunk_size"});
  // --tokens and --samples; what beams and encoders have
  config.ignore({"max_length", "max_new_tokens", "max_time", "num_return_sequences", "early_stopping", "length_penalty",
                 "encoder_no_repeat_ngram_size"});
  // drafts of another model, which do not change what is written
  config.ignore({"assistant_confidence_threshold", "assistant_early_exit", "assistant_lookbehind", "is_assistant",
                 "max_matching_ngram_size", "num_assistant_tokens", "num_assistant_tokens_schedule",
                 "prompt_lookup_num_tokens", "target_lookbehind"});
  for (const auto& [key, value] : config.content().items())
    if (is_off(key, value)) config.ignore({key});
}

/// One sentence, if there is something to say.
void note_choice(const model_config& config, const std::set<std::string>& said, std::vector<std::string>& notes) {
  std::vector<std::string> unused;
  for (const char* const key : {"do_sample", "temperature", "top_k", "top_p"})
    if (config.has(key) && off().at(key) != config.content().at(key) && !said.contains(key))
      unused.push_back(fmt::format("{} = {}", key, shown_json(config.content().at(key))));
  if (!unused.empty())
    notes.push_back(
        fmt::format("{}: Hydra does not use {}: --temperature, --top-k and --top-p say how tokens are chosen",
                    config.file(), fmt::join(unused, ", ")));
}

}  // namespace

std::vector<std::string> notes_on_generation(const std::filesystem::path& folder, const std::set<std::string>& said) {
  const auto config = settings_in(folder);
  if (!config) return {};
  ignore_without_effect(*config);
  std::vector<std::string> notes;
  note_choice(*config, said, notes);
  for (std::string& note : key_notes(*config)) notes.push_back(std::move(note));
  return notes;
}

}  // namespace hydra::apps
