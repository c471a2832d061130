#include "apps/commands/other_commands.hpp"

#include <algorithm>

namespace hydra::apps {

namespace {

/// Answers to several commands.
namespace answered {

constexpr std::string_view adapters =
    "hydra train W.toml trains an adapter of each model that has adapter = { rank = 16 }; hydra init FOLDER DATA "
    "writes W.toml for a checkpoint and files of your own";
constexpr std::string_view continuing = "hydra train RUN --resume continues a run";
constexpr std::string_view evaluating = "hydra evaluate RUN evaluates the models of a run";
constexpr std::string_view generating =
    "hydra generate FOLDER --prompt TEXT continues a text, by a checkpoint or, with --model NAME, by a model of a run";
constexpr std::string_view preferences =
    "preferences and rewards (DPO, PPO, GRPO) are missing; hydra train W.toml learns texts, conversations and classes";
constexpr std::string_view searching =
    "hydra train W.toml trains every combination of [model.grid], and chooses among models by [search], of W.toml";
constexpr std::string_view training =
    "hydra train W.toml trains; hydra init FOLDER DATA writes W.toml for a checkpoint and files of your own";

}  // namespace answered

constexpr other_command sorted_commands[]{
    {"chat", "hydra generate FOLDER --chat answers messages"},
    {"continue", answered::continuing},
    {"convert",
     "checkpoints are read as they are, by chain = { from = \"FOLDER\" }; hydra export RUN MODEL FOLDER writes one"},
    {"download",
     "hf download OWNER/NAME --local-dir FOLDER downloads a checkpoint; hydra init FOLDER DATA writes a workload for "
     "it"},
    {"dpo", answered::preferences},
    {"eval", answered::evaluating},
    {"fine-tune", answered::training},
    {"finetune", answered::training},
    {"fit", answered::training},
    {"grpo", answered::preferences},
    {"infer", answered::generating},
    {"inference", answered::generating},
    {"lora", answered::adapters},
    {"merge", "hydra export RUN MODEL FOLDER --merge writes a model with its adapter merged into the weights"},
    {"ppo", answered::preferences},
    {"predict",
     "hydra generate FOLDER --prompt TEXT continues a text; for classes of single records export the model: hydra "
     "export RUN MODEL FOLDER"},
    {"qlora", answered::adapters},
    {"resume", answered::continuing},
    {"run", answered::training},
    {"search", answered::searching},
    {"serve",
     "models are not served: hydra export RUN MODEL FOLDER writes a checkpoint for programs that do; hydra train "
     "W.toml --serve shows a run on a page"},
    {"sft", answered::training},
    {"sweep", answered::searching},
    {"tune", answered::searching},
    {"validate", answered::evaluating}};

static_assert(std::ranges::is_sorted(sorted_commands, {}, &other_command::name));

}  // namespace

std::span<const other_command> other_commands() { return sorted_commands; }

std::string_view answer_to_command(std::string_view name) {
  const auto* const found = std::ranges::find(sorted_commands, name, &other_command::name);
  return found == std::ranges::end(sorted_commands) ? std::string_view{} : found->answer;
}

}  // namespace hydra::apps
