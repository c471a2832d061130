#include "partition/checkpoint/checkpoint_size.hpp"

#include "models/weights/safetensors_file.hpp"
#include "partition/checkpoint/checkpoint_folder.hpp"
#include "tests/support/small_models.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace hydra;
using namespace hydra::test;

namespace {

/// Of the tensors in the files of the shards.
byte_count values_in_files(const std::filesystem::path& checkpoint) {
  std::size_t bytes = 0;
  for (const auto& file : std::filesystem::directory_iterator(checkpoint)) {
    if (!file.path().filename().string().starts_with("shard-")) continue;
    const safetensors_file stored(file.path());
    for (const auto& name : stored.names()) bytes += stored.find(name)->data.size();
  }
  return byte_count{bytes};
}

/// Returns the checkpoint of the model, between its second and its third step.
std::filesystem::path save_second_step(const std::shared_ptr<sharded_model>& what, const std::filesystem::path& root) {
  const auto arena = make_host_arena(byte_count{64 << 20});
  model_checkpoint c{.what = what, .memory = {}, .standing = {}};
  c.memory.homes = make_homes(*what, *arena);
  c.memory.versions.assign(what->size(), version_index{2});
  c.memory.updates.shards.assign(what->size(), update_phase::waiting);
  c.standing.next.step = 2;
  c.standing.history.losses = {3.5F, 3};
  checkpoint_folder(posix_file_system(), root, 1).save(c, [](shard_index) {});
  return list_checkpoints(checkpoints_of(root, what->name)).front();
}

}  // namespace

TEST_CASE("the size of a checkpoint is that of the values in its files, whatever the optimizer and the cuts",
          "[checkpoint]") {
  const auto body = small_gpt({.layers = 3, .width = 64, .heads = 2, .context = 6});
  const std::string kind = GENERATE("adamw", "adamw8bit", "sgd", "adafactor");
  auto update = kind == "sgd" ? sgd({.learning_rate = 0.1, .momentum = 0.9}) : adamw({});
  if (kind == "adamw8bit") update.kind = update_kind::adamw8bit;
  if (kind == "adafactor") update.kind = update_kind::adafactor;
  for (const cut_points& cuts : {cut_points{0}, cut_points{0, 2, 4}}) {
    INFO(kind << ", shards " << cuts.size());
    const temporary_folder folder;
    const auto checkpoint = save_second_step(cut_model(body, {.cuts = cuts, .update = update}), folder.path());
    CHECK(checkpoint_bytes(*body.body, update) == values_in_files(checkpoint));
    CHECK(saved_bytes(checkpoint.parent_path()) > values_in_files(checkpoint));
  }
}
