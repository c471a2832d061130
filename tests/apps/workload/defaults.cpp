// The documented defaults (`hydra families`, docs/workload.md, comparison of a resumed run) are the actual defaults.

#include "actors/selection/search_settings.hpp"
#include "actors/session/early_stop.hpp"
#include "actors/session/session.hpp"
#include "apps/workload/device_kinds.hpp"
#include "apps/workload/forbidden_changes.hpp"
#include "apps/workload/parse.hpp"
#include "apps/workload/schema.hpp"
#include "models/families/bert/bert.hpp"
#include "models/families/cnn/cnn.hpp"
#include "models/families/gemma/gemma.hpp"
#include "models/families/gpt2/gpt2.hpp"
#include "models/families/llama/llama.hpp"
#include "models/families/mlp/mlp.hpp"
#include "models/families/phi3/phi3.hpp"
#include "models/families/resnet/resnet.hpp"
#include "models/families/vit/vit.hpp"
#include "runtime/device/cuda/cuda_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <concepts>
#include <functional>
#include <map>
#include <string>
#include <utility>

namespace hydra::apps {

namespace {

// As TOML.
std::string toml(const std::string& text) { return fmt::format("\"{}\"", text); }
std::string toml(std::integral auto number) { return fmt::format("{}", number); }
std::string toml(double number) { return fmt::format("{}", number); }

/// "model.chain.gpt2.eps": the key `eps` of the table [model.chain] whose selector is "gpt2".
using rules_by_path = std::map<std::string, key_rule>;

void collect(const table_rules& rules, const std::string& path, rules_by_path& all) {
  const auto add = [&](const std::vector<key_rule>& keys, const std::string& to) {
    for (const key_rule& key : keys) {
      all.emplace(to + key.name, key);
      for (const table_rules& inner : key.inner) collect(inner, to + key.name + ".", all);
    }
  };
  add(rules.keys, path);
  for (const table_variant& v : rules.variants) add(v.keys, path + v.name + ".");
}

const rules_by_path& all_rules() {
  static const rules_by_path all = [] {
    rules_by_path found;
    collect(workload_rules(), "", found);
    return found;
  }();
  return all;
}

/// Its default is given as a value, not by words such as "the run's".
bool tells_value(const key_rule& rule) {
  using enum value_kind;
  if (rule.kind == text || rule.kind == field_text)
    return rule.fallback.starts_with('"') || std::ranges::count(rule.choices, rule.fallback) > 0;
  const bool number = rule.kind == boolean || rule.kind == integer || rule.kind == real || rule.kind == number_pair;
  return rule.kind == tokenizer || (number && parse_value(rule.fallback));
}

/// What the structs hold that these keys go to.
std::map<std::string, std::string> struct_defaults() {
  std::map<std::string, std::string> all;
  const session_options run;
  all["run.seed"] = toml(run.seed);
  all["run.tensorboard"] = toml(run.tensorboard);
  all["run.trusted_policy"] = toml(run.policies.trusted);
  all["run.objective"] = toml(run.goal.least == run_objective::makespan ? "makespan" : "another");
  all["run.optimizer_on"] = toml(to_string(run.optimizer_on));
  all["run.checkpoint.every_steps"] = toml(run.checkpoint.every_steps);
  all["run.checkpoint.every_minutes"] = toml(run.checkpoint.every_minutes);
  all["run.checkpoint.keep"] = toml(run.checkpoint.keep);
  all["ablation.double_buffer"] = toml(run.ablation.double_buffer);
  all["ablation.cache"] = toml(run.ablation.cache);
  all["ablation.copy_back_clean"] = toml(run.ablation.copy_back_clean);
  all["ablation.save"] = toml(run.ablation.save);
  all["ablation.sharp"] = toml(run.ablation.sharp);
  all["ablation.share"] = toml(run.ablation.share);
  const search_settings search;
  all["search.metric"] = toml(to_string(search.metric));
  for (const std::string kind : {"random", "halving", "hyperband", "asha", "pbt", "own"})
    all["search." + kind + ".seed"] = toml(search.seed);
  for (const std::string kind : {"halving", "hyperband", "asha"})
    all["search." + kind + ".factor"] = toml(search.factor);
  all["device.count"] = toml(device_entry{}.count);
  all["device.billing"] = toml(expense_terms{}.billed == billing::run ? "run" : "used");
  const cpu_device cpu;
  all["device.cpu.threads"] = toml(cpu.threads);
  all["device.cpu.speed"] = toml(cpu.speed);
  all["device.cpu.precision"] = toml(to_string(cpu.numbers));
  all["device.cpu.gradients"] = toml(to_string(cpu.gradients));
  const cuda_options gpu;
  all["device.cuda.index"] = toml(gpu.index);
  all["device.cuda.precision"] = toml(to_string(gpu.numbers));
  all["device.cuda.gradients"] = toml(to_string(gpu.gradients));
  all["device.cuda.tf32"] = toml(gpu.tf32);
  all["device.cuda.pool"] = toml(gpu.pool == pool_kind::arena ? "arena" : "expandable");
  return all;
}

void add_data(std::map<std::string, std::string>& all) {
  all["data.shuffle"] = toml(data_description{}.shuffle);
  const synthetic_language language;
  all["data.synthetic-language.symbols"] = toml(language.symbols);
  all["data.synthetic-language.order"] = toml(language.order);
  all["data.synthetic-language.tokens"] = toml(language.tokens);
  all["data.synthetic-language.validation_tokens"] = toml(language.validation_tokens);
  all["data.synthetic-language.seed"] = toml(language.seed);
  const synthetic_classes classes;
  all["data.synthetic-classes.features"] = toml(classes.features);
  all["data.synthetic-classes.classes"] = toml(classes.classes);
  all["data.synthetic-classes.samples"] = toml(classes.samples);
  all["data.synthetic-classes.validation_samples"] = toml(classes.validation_samples);
  all["data.synthetic-classes.noise"] = toml(classes.noise);
  all["data.synthetic-classes.seed"] = toml(classes.seed);
  for (const std::string kind : {"text", "tokens", "jsonl", "csv"}) {
    all["data." + kind + ".tokenizer"] =
        toml("bytes");  // of models that do not start from a checkpoint; the identities of others have their tokenizer
    all["data." + kind + ".mask_share"] = toml(mask_options{}.share);
    all["data." + kind + ".seed"] = toml(mask_options{}.seed);
  }
  for (const auto& [kind, rule] : {std::pair{"jsonl", jsonl_files{}.bad_rows}, {"chat", chat_files{}.bad_rows},
                                   {"csv", csv_files{}.bad_rows}})
    all[fmt::format("data.{}.bad_rows", kind)] =
        toml(std::string{rule == bad_row_rule::refuse ? "refuse" : "leave-out"});
  all["data.jsonl.text"] = toml(jsonl_files{}.text);
  all["data.jsonl.packing"] = toml(jsonl_files{}.packing);
  all["data.jsonl.validation_share"] = toml(jsonl_files{}.validation_share);
  for (const std::string kind : {"alpaca", "prompt-completion"}) {
    const std::string data = "data." + kind;
    all[data + ".tokenizer"] = toml("bytes");
    all[data + ".seed"] = toml(mask_options{}.seed);
    all[data + ".bad_rows"] = toml("refuse");
    all[data + ".packing"] = toml(jsonl_files{}.packing);
    all[data + ".validation_share"] = toml(jsonl_files{}.validation_share);
  }
  all["data.chat.validation_share"] = toml(chat_files{}.validation_share);
  all["data.chat.tokenizer"] = toml("bytes");
  all["data.chat.loss_on"] = toml("assistant");
  all["data.chat.packing"] = toml(chat_files{}.packing);
  all["data.chat.seed"] = toml(chat_files{}.seed);
  all["data.csv.regression"] = toml(csv_files{}.regression);
  all["data.csv.standardise"] = toml(csv_files{}.standardise);
  all["data.csv.separator"] = toml(std::string{csv_files{}.separator});
  all["data.images.validation_share"] = toml(image_folders{}.validation_share);
  all["data.images.flip"] = toml(image_folders{}.flip);
  all["data.images.seed"] = toml(image_folders{}.seed);
  all["data.cifar.classes"] = toml(cifar_files{}.classes);
  all["data.cifar.flip"] = toml(cifar_files{}.flip);
  all["data.cifar.seed"] = toml(cifar_files{}.seed);
  all["data.tensors.target"] = toml(tensor_files{}.target);
}

void add_training(std::map<std::string, std::string>& all) {
  const model_description m;
  all["model.base"] = toml(to_string(chain{"", {}, cross_entropy()}.base()));
  all["model.micro_batches"] = toml(m.micro_batches);
  all["model.loss_chunk"] = toml(chain{"", {}, cross_entropy()}.loss_chunk());
  all["model.parallel.replicas"] = toml(m.parallel.replicas);
  all["model.parallel.nodes"] = toml(m.nodes);
  all["model.parallel.waves"] = toml(m.parallel.waves);
  all["model.parallel.pieces"] = toml(chain{"", {}, cross_entropy()}.pieces());
  all["model.parallel.side_by_side"] = toml(chain{"", {}, cross_entropy()}.side_by_side());
  all["model.parallel.shards"] = toml(balanced_cut{}.shards);
  all["model.on_nan"] = toml(m.stop_on_nan ? "stop" : "ignore");
  all["model.priority"] = toml(m.priority);
  all["model.validate.keep_best"] = toml(validation_options{}.keep_best);
  const lora_options lora;
  all["model.adapter.kind"] = toml("lora");
  all["model.adapter.lora.dropout"] = toml(lora.dropout);
  all["model.adapter.lora.rank_scaled"] = toml(lora.rank_scaled);
  all["model.optimizer.kind"] = toml(to_string(m.optimizer.kind));
  all["model.optimizer.clip_norm"] = toml(m.optimizer.clip_norm);
  all["model.optimizer.decay"] = toml(m.optimizer.decay == decay_scope::all ? "all" : "matrices");
  const update_options adam = adamw({}), descent = sgd({}), signs = lion({});
  for (const std::string kind : {"adamw", "adamw8bit"}) {
    const update_options o = kind == "adamw" ? adam : adamw8bit({});
    all["model.optimizer." + kind + ".weight_decay"] = toml(o.weight_decay);
    all["model.optimizer." + kind + ".betas"] = fmt::format("[{}, {}]", o.beta1, o.beta2);
    all["model.optimizer." + kind + ".eps"] = toml(o.eps);
  }
  all["model.optimizer.sgd.weight_decay"] = toml(descent.weight_decay);
  all["model.optimizer.sgd.momentum"] = toml(descent.momentum);
  all["model.optimizer.sgd.nesterov"] = toml(descent.nesterov);
  all["model.optimizer.lion.weight_decay"] = toml(signs.weight_decay);
  all["model.optimizer.lion.betas"] = fmt::format("[{}, {}]", signs.beta1, signs.beta2);
  const update_options matrices = muon({});
  all["model.optimizer.muon.weight_decay"] = toml(matrices.weight_decay);
  all["model.optimizer.muon.momentum"] = toml(matrices.momentum);
  all["model.optimizer.muon.nesterov"] = toml(matrices.nesterov);
  all["model.optimizer.muon.adjust_lr"] =
      toml(matrices.adjustment == rate_adjustment::original ? "original" : "another");
  all["model.optimizer.muon.betas"] = fmt::format("[{}, {}]", matrices.beta1, matrices.beta2);
  all["model.optimizer.muon.eps"] = toml(matrices.eps);
  const update_options factored = adafactor({});
  all["model.optimizer.adafactor.weight_decay"] = toml(factored.weight_decay);
  all["model.optimizer.adafactor.decay_rate"] = toml(factored.decay_rate);
  all["model.optimizer.adafactor.clip_threshold"] = toml(factored.clip_threshold);
  all["model.optimizer.adafactor.eps"] = toml(factored.eps);
  const learning_schedule rate;
  all["model.schedule.kind"] = toml(rate.kind == schedule_kind::constant ? "constant" : "another");
  all["model.schedule.warmup"] = toml(rate.warmup);
  all["model.schedule.warmup_ratio"] = toml(rate.warmup_ratio);
  for (const std::string kind : {"linear", "cosine", "wsd", "cosine-restarts"})
    all["model.schedule." + kind + ".floor"] = toml(rate.floor);
  all["model.schedule.wsd.decay_ratio"] = toml(rate.decay_ratio);
  all["model.schedule.cosine-restarts.cycles"] = toml(rate.cycles);
  all["controller.early-stop.patience"] = toml(early_stop_options{}.patience);
  all["controller.early-stop.minimum"] = toml(early_stop_options{}.minimum);
}

void add_language_models(std::map<std::string, std::string>& all) {
  const gpt2_options gpt;
  all["model.chain.gpt2.vocabulary"] = toml(gpt.vocabulary);
  all["model.chain.gpt2.dropout"] = toml(gpt.dropout);
  all["model.chain.gpt2.attention_dropout"] = toml(gpt.attention_dropout);
  all["model.chain.gpt2.eps"] = toml(gpt.eps);
  all["model.chain.gpt2.tied"] = toml(gpt.tied);
  const llama_options l;
  all["model.chain.llama.kv_heads"] = toml(l.kv_heads);
  all["model.chain.llama.head_size"] = toml(l.head_size);
  all["model.chain.llama.vocabulary"] = toml(l.vocabulary);
  all["model.chain.llama.rope_theta"] = toml(l.rope_theta);
  all["model.chain.llama.rope_scaling"] = toml(to_string(l.scaling.how));
  all["model.chain.llama.rope_factor"] = toml(l.scaling.factor);
  all["model.chain.llama.rope_low_frequency_factor"] = toml(l.scaling.low_frequency_factor);
  all["model.chain.llama.rope_high_frequency_factor"] = toml(l.scaling.high_frequency_factor);
  all["model.chain.llama.rope_original_context"] = toml(l.scaling.original_context);
  all["model.chain.llama.eps"] = toml(l.eps);
  all["model.chain.llama.tied"] = toml(l.tied);
  all["model.chain.llama.qkv_bias"] = toml(l.qkv_bias);
  all["model.chain.llama.output_bias"] = toml(l.output_bias);
  all["model.chain.llama.mlp_bias"] = toml(l.mlp_bias);
  all["model.chain.llama.qk_norm"] = toml(l.qk_norm);
  all["model.chain.llama.window"] = toml(l.window);
  all["model.chain.llama.full_layers"] = toml("none");
  const gemma_options g;
  all["model.chain.gemma.kv_heads"] = toml(g.kv_heads);
  all["model.chain.gemma.head_size"] = toml(g.head_size);
  all["model.chain.gemma.vocabulary"] = toml(g.vocabulary);
  all["model.chain.gemma.window"] = toml(g.window);
  all["model.chain.gemma.full_layers"] = toml("none");
  all["model.chain.gemma.rope_theta"] = toml(g.rope_theta);
  all["model.chain.gemma.rope_factor"] = toml(g.rope_factor);
  all["model.chain.gemma.local_rope_theta"] = toml(g.local_rope_theta);
  all["model.chain.gemma.query_scale"] = toml(g.query_scale);
  all["model.chain.gemma.score_cap"] = toml(g.score_cap);
  all["model.chain.gemma.logit_cap"] = toml(g.logit_cap);
  all["model.chain.gemma.eps"] = toml(g.eps);
  all["model.chain.gemma.tied"] = toml(g.tied);
  all["model.chain.gemma.qk_norm"] = toml(g.qk_norm);
  const phi3_options p;
  all["model.chain.phi3.kv_heads"] = toml(p.kv_heads);
  all["model.chain.phi3.head_size"] = toml(p.head_size);
  all["model.chain.phi3.vocabulary"] = toml(p.vocabulary);
  all["model.chain.phi3.window"] = toml(p.window);
  all["model.chain.phi3.rotated"] = toml(p.rotated);
  all["model.chain.phi3.rope_theta"] = toml(p.rope_theta);
  all["model.chain.phi3.eps"] = toml(p.eps);
  all["model.chain.phi3.tied"] = toml(p.tied);
  const bert_options b;
  all["model.chain.bert.head"] = toml(b.head == bert_head::masked_lm ? "masked-lm" : "classification");
  all["model.chain.bert.hidden"] = toml(b.hidden);
  all["model.chain.bert.vocabulary"] = toml(b.vocabulary);
  all["model.chain.bert.types"] = toml(b.types);
  all["model.chain.bert.activation"] = toml(to_string(b.act));
  all["model.chain.bert.dropout"] = toml(b.dropout);
  all["model.chain.bert.attention_dropout"] = toml(b.attention_dropout);
  all["model.chain.bert.eps"] = toml(b.eps);
}

void add_other_models(std::map<std::string, std::string>& all) {
  const vit_options v;
  all["model.chain.vit.image"] = toml(v.image.size());
  all["model.chain.vit.channels"] = toml(3);  // of an image that is asked for; without one the data decide
  all["model.chain.vit.hidden"] = toml(v.hidden);
  all["model.chain.vit.activation"] = toml(to_string(v.act));
  all["model.chain.vit.qkv_bias"] = toml(v.qkv_bias);
  all["model.chain.vit.dropout"] = toml(v.dropout);
  all["model.chain.vit.attention_dropout"] = toml(v.attention_dropout);
  all["model.chain.vit.eps"] = toml(v.eps);
  const resnet_options r;
  all["model.chain.resnet.depths"] = toml(fmt::format("{}", fmt::join(r.depths, ",")));
  all["model.chain.resnet.hidden_sizes"] = toml(fmt::format("{}", fmt::join(r.hidden_sizes, ",")));
  all["model.chain.resnet.embedding_size"] = toml(r.embedding_size);
  all["model.chain.resnet.layer_type"] = toml(r.layer_type);
  all["model.chain.resnet.downsample_in_first_stage"] = toml(r.downsample_in_first_stage);
  all["model.chain.resnet.downsample_in_bottleneck"] = toml(r.downsample_in_bottleneck);
  const cnn_options c;
  all["model.chain.cnn.stages"] = toml(c.stages);
  all["model.chain.cnn.blocks"] = toml(c.blocks);
  all["model.chain.cnn.width"] = toml(c.width);
  all["model.chain.cnn.groups"] = toml(c.groups);
  all["model.chain.cnn.dense_layers"] = toml(c.dense_layers);
  all["model.chain.cnn.dense_width"] = toml(c.dense_width);
  const mlp_options m;
  all["model.chain.mlp.layers"] = toml(m.layers);
  all["model.chain.mlp.dropout"] = toml(m.dropout);
}

std::map<std::string, std::string> defaults() {
  auto all = struct_defaults();
  add_data(all);
  add_training(all);
  add_language_models(all);
  add_other_models(all);
  return all;
}

}  // namespace

TEST_CASE("the documented default of a key is the default of the struct that it is read into") {
  for (const auto& [path, is] : defaults()) {
    CAPTURE(path, is);
    const auto found = all_rules().find(path);
    REQUIRE(found != all_rules().end());
    CAPTURE(found->second.fallback);
    CHECK(is_default(parse_value(is).value(), found->second));
  }
}

TEST_CASE("every key whose default is given as a value is compared with its struct here") {
  const auto compared = defaults();
  for (const auto& [path, rule] : all_rules()) {
    CAPTURE(path, rule.fallback);
    CHECK((!tells_value(rule) || compared.contains(path)));
  }
}

}  // namespace hydra::apps
