#include "actors/input/batch_reader.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <numeric>

namespace hydra {

namespace {

std::span<std::byte> sample_of(host_block& block, std::size_t i, std::size_t bytes) {
  return {block.data() + i * bytes, bytes};
}

/// Bytes of a sample that the source does not write must be zero: the block may hold an earlier sample.
void clear(host_block& block) { std::memset(block.data(), 0, block.size().value()); }

/// Of a sample that only fills the last micro-batch of an evaluation.
void leave_out(std::span<std::byte> target) {
  for (std::size_t at = 0; at < target.size(); at += sizeof(uncounted_target)) {
    std::memcpy(target.data() + at, &uncounted_target, sizeof(uncounted_target));
  }
}

}  // namespace

batch_reader::batch_reader(model_id id, const model_entry& model, host_arena& arena,
                           std::shared_ptr<epoch_orders> orders)
    : id_(id),
      what_(model.what),
      source_(model.data.source),
      order_(model.data.order, std::move(orders)),
      arena_(arena) {}

std::vector<std::size_t> batch_reader::samples_of(const batch_range& range) {
  if (!source_ || range.pass == pass_kind::train) {
    return source_ ? order_.batch(range.step.value) : std::vector<std::size_t>{};
  }
  std::vector<std::size_t> samples(range.micro_batches * static_cast<std::size_t>(what_->plan.samples));
  std::iota(samples.begin(), samples.end(), range.first.value * static_cast<std::size_t>(what_->plan.samples));
  return samples;
}

read_batch batch_reader::read(const batch_range& range) {
  read_batch batch{.targets = source_ ? std::size_t{0} : 1, .blocks = allocate(range)};
  if (!source_) {
    return batch;
  }
  try {
    source_->require_unchanged();
    fill(batch, range);
  } catch (...) {
    auto why = to_fault(std::current_exception());
    // Only what the arena refuses is available again after others have freed theirs.
    why.code = why.code == fault_code::out_of_memory ? fault_code::io : why.code;
    throw fault_error(std::move(why));
  }
  return batch;
}

void batch_reader::fill(read_batch& batch, const batch_range& range) {
  const auto each = static_cast<std::size_t>(what_->plan.samples);
  const auto samples = samples_of(range);
  const bool trains = range.pass == pass_kind::train;
  const auto part = trains ? split::train : split::validation;
  const auto first = trains ? what_->first_micro_batch() * each : 0;
  for (std::size_t k = 0; k < range.micro_batches; ++k) {
    batch.targets += fill(part, std::span(samples).subspan(first + k * each, each), *batch.blocks[2 * k].second,
                          *batch.blocks[2 * k + 1].second);
  }
  if (trains && !what_->share.whole()) {
    const auto end = first + range.micro_batches * each;
    batch.targets +=
        count_elsewhere(std::span(samples).first(first)) + count_elsewhere(std::span(samples).subspan(end));
  }
}

/// The targets of samples that other nodes read for the same step.
std::size_t batch_reader::count_elsewhere(std::span<const std::size_t> samples) const {
  std::vector<std::byte> input(source_->sample_input().bytes().value());
  std::vector<std::byte> target(source_->sample_target().bytes().value());
  std::size_t counted = 0;
  for (const auto sample : samples) {
    counted += source_->read(split::train, sample, input, target);
  }
  return counted;
}

std::vector<std::pair<block_id, byte_count>> batch_reader::samples_in(const batch_range& range) const {
  const auto& graphs = *what_->graphs;
  const auto& graph = range.pass == pass_kind::train ? graphs.step : graphs.rounds.at(range.micro_batches);
  const graph_turn turn{.model = id_, .step = range.step, .first = range.first};
  std::vector<std::pair<block_id, byte_count>> all;
  for (block_index b; b.value < graph.blocks(); b = b.next()) {
    const bool is_data = !graph.writer(b) && graph.block(b).life == block_life::of_step;
    for (block_part each{.block = b}; is_data && each.part < graph.block(b).parts; ++each.part) {
      all.emplace_back(graph.name(each, turn), graph.block(b).bytes);
    }
  }
  std::ranges::stable_sort(all, {}, [](const auto& sample) { return sample.first.micro_batch; });
  return all;
}

/// Allocates all blocks before the first byte is read: a batch that waits for memory is requested repeatedly.
std::vector<std::pair<block_id, host_block_ptr>> batch_reader::allocate(const batch_range& range) {
  std::vector<std::pair<block_id, host_block_ptr>> blocks;
  for (const auto& [id, bytes] : samples_in(range)) {
    blocks.emplace_back(id, arena_.allocate(bytes, to_string(id.kind) + " of " + what_->name, host_use::transferred));
  }
  return blocks;
}

std::size_t batch_reader::fill(split part, std::span<const std::size_t> samples, host_block& inputs,
                               host_block& targets) const {
  const auto input_bytes = source_->sample_input().bytes().value();
  const auto target_bytes = source_->sample_target().bytes().value();
  clear(inputs);
  clear(targets);
  std::size_t counted = 0;
  const auto there = source_->samples(part);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto target = sample_of(targets, i, target_bytes);
    const auto of_sample =
        source_->read(part, std::min(samples[i], there - 1), sample_of(inputs, i, input_bytes), target);
    if (samples[i] < there) {
      counted += of_sample;
    } else {
      leave_out(target);
    }
  }
  return counted;
}

}  // namespace hydra
