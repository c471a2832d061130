#include "apps/commands/command.hpp"

#include "apps/commands/commands.hpp"

namespace hydra::apps {

const std::vector<command>& commands() {
  static const std::vector<command> all{
      {"init", "writes a workload for a checkpoint and files of your own", declare_init},
      {"train", "plans and trains all models of a workload, writes the run folder", declare_train},
      {"node", "trains models for hydra train --listen on another machine", declare_node},
      {"cluster", "makes the keys of a cluster", declare_cluster},
      {"plan", "measures and cuts all models of a workload, predicts what the run would take", declare_plan},
      {"data", "shows samples as the models of a workload see them", declare_data},
      {"simulate", "runs policies on a workload, an instance or a recorded run in virtual time", declare_simulate},
      {"study", "runs policies on many instances: tables as CSV, JSON and a page of HTML", declare_study},
      {"evaluate", "evaluates models of a run, or of a workload before training, on validation data", declare_evaluate},
      {"control", "shows and steers a run that is under way", declare_control},
      {"report", "shows the results of a run, as tables and as a page of HTML", declare_report},
      {"export", "writes a model of a run as a Hugging Face checkpoint", declare_export},
      {"generate", "continues a text, by a model of a run or a Hugging Face checkpoint", declare_generate},
      {"bench", "runs the measurements behind the figures", declare_bench},
      {"tokenize", "converts text to token ids and back, trains tokenizers", declare_tokenize},
      {"devices", "lists the kinds of devices and their keys", declare_devices},
      {"policies", "lists the scheduling policies", declare_policies},
      {"families", "lists the model families and their options", declare_families},
  };
  return all;
}

}  // namespace hydra::apps
