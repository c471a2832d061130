#include "models/data/record_shapes.hpp"

#include <nlohmann/json.hpp>

namespace hydra {

const record_shape& alpaca_shape() {
  static const record_shape shape{
      .prompt =
          "Below is an instruction that describes a task, paired with an input that provides further context. "
          "Write a response that appropriately completes the request.\n\n### Instruction:\n{instruction}\n\n"
          "### Input:\n{input}\n\n### Response:",
      .answer = "output",
      .short_prompt =
          "Below is an instruction that describes a task. Write a response that appropriately completes "
          "the request.\n\n### Instruction:\n{instruction}\n\n### Response:"};
  return shape;
}

const record_shape& completion_shape() {
  static const record_shape shape{.prompt = "prompt", .answer = "completion"};
  return shape;
}

std::string_view kind_of_record(const nlohmann::json& record) {
  const auto has = [&](const char* name) { return record.contains(name); };
  const auto has_list = [&](const char* name) { return has(name) && record.at(name).is_array(); };
  if (has_list("messages") || has_list("conversations")) return "chat";
  if (has("instruction") && has("output")) return "alpaca";
  if (has("prompt") && has("completion")) return "prompt-completion";
  return "";
}

const std::string_view way_for_preferences =
    "there is no training on preferences (DPO); kind = \"jsonl\" learns chosen answers that are texts, with prompt = "
    "\"{prompt}\" and answer = \"chosen\"; convert those that are lists of messages: jq -c '{messages: .chosen}'";

bool is_preference(const nlohmann::json& record) { return record.contains("chosen") && record.contains("rejected"); }

}  // namespace hydra
