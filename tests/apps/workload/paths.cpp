#include "apps/workload/paths.hpp"

#include "apps/workload/parse.hpp"
#include "apps/workload/schema.hpp"
#include "apps/workload/to_toml.hpp"

#include <catch2/catch.hpp>

namespace hydra::apps {

using Catch::Contains;

TEST_CASE(
    "relative paths of data, tokenizers, checkpoints and plans start at another folder, what is not a path stays") {
  value_table root = parse_toml(R"([run]
name = "w"
output = "runs/w"
[data.text]
kind = "text"
train = "t.txt"
validation = "/v.txt"
tokenizer = { vocab = "v.json", merges = "m.txt" }
[data.bytes]
kind = "text"
train = "b.txt"
tokenizer = "bytes"
[data.pictures]
kind = "cifar"
train = ["one", "../two"]
[[model]]
name = "a"
data = "text"
cuts = "greedy"
chain = { from = "gpt2" }
[[model]]
name = "b"
data = "bytes"
cuts = "plan.json"
chain = { family = "gpt2", layers = 2 }
)", "w.toml");
  resolve_paths(root, workload_rules(), "/base/x");
  const std::string text = to_toml(root);
  for (const char* path :
       {"/base/x/t.txt", "\"/v.txt", "/base/x/v.json", "/base/x/m.txt", "/base/x/b.txt", "/base/x/one", "/base/two",
        "/base/x/gpt2", "/base/x/plan.json", "\"greedy\"", "\"bytes\"", "\"runs/w\""})
    CHECK_THAT(text, Contains(path));
  CHECK_THAT(text,
             !Contains("x/greedy") && !Contains("x/bytes") && !Contains("x/runs") && Contains("family = \"gpt2\""));
}

}  // namespace hydra::apps
