#include "tests/apps/report/example.hpp"

namespace hydra::apps {

const std::string full_report = R"({
  "version": "0.1.0", "name": "<run> & more", "seed": 7, "policy": "fifo",
  "makespan_s": 10.0, "bound_s": 8.0, "bound": "uniform", "efficiency": 0.8,
  "bounds": {"work_s": 6.5, "chain_s": 4.0, "uniform_s": 8.0},
  "scheduling": {"decisions": 12, "mean_us": 1.5, "p99_us": 6.0}, "pilot_s": 0.5, "load_s": 0.25,
  "devices": [{"name": "cpu:0", "kind": "cpu", "speed": 0.5, "busy_s": 7.0, "utilisation": 0.7, "exposed_transfer_s": 1.0,
    "blame": {"compute_s": 7.0, "exposed_h2d_s": 1.0, "exposed_d2h_s": 0.0, "optimizer_s": 0.5, "predecessor_s": 0.5,
              "no_unit_s": 0.75, "actors_s": 0.25},
    "h2d_bytes": 1048576, "d2h_bytes": 2097152, "cache_hits": 1, "cache_misses": 3, "peak_bytes": 100, "budget_bytes": 200}],
  "host": {"peak_bytes": 300, "budget_bytes": 400, "optimizer_s": 0.125},
  "models": [
    {"name": "<b>&\"'", "family": "gpt2", "parameters": 10, "cuts": [0, 1], "status": "failed",
     "fault": {"code": "not finite", "text": "the loss is <undefined>"}, "steps": 3, "tokens": 30, "seconds": 2.0,
     "loss": [3.0, 2.0, null], "grad_norm": [1.0, 1.0, 1.0]},
    {"name": "gpt b", "family": "gpt2", "parameters": 10, "cuts": [0], "status": "finished", "steps": 4, "tokens": 40,
     "seconds": 4.0, "loss": [3.0, 2.5, 2.25, 2.0], "digest": "sha256:00",
     "validation": [{"step": 2, "loss": 2.75, "perplexity": 15.6, "floor": 1.5}, {"step": 4, "loss": 2.125, "perplexity": 8.4}]}
  ]
})";

const std::string interrupted_report = R"({
  "name": "run", "interrupted": true, "notes": ["a checkpoint of <a> was passed over"], "save_s": 0.5,
  "models": [{"name": "<a>", "status": "interrupted", "steps": 2, "loss": [3.0, 2.0]},
             {"name": "b", "status": "finished", "steps": 4, "loss": [3.0, 2.5, 2.25, 2.0]}]
})";

recorded_run example_run() { return parse_report(full_report, "report.json"); }

}  // namespace hydra::apps
