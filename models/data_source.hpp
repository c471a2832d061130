#pragma once
// Data: samples by index. Position in the data is the step number, so it restores itself.

#include "models/pixel_scale.hpp"
#include "models/sample_parts.hpp"
#include "models/tensor_spec.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hydra {

enum class split : std::uint8_t { train, validation };

/// What samples of text look like to a model.
enum class sample_form : std::uint8_t {
  causal,  ///< i64[T]; targets i64[T], each the token that follows
  /// i64[3, T]: ids, segments (0 or 1), 1 where a token is and 0 where padding; targets i64[T], -100 where not masked
  masked,
  labelled  ///< i64[3, T] as for masked; target i64[], the class of the sample
};

/// What a model asks of its data. A source that has no such thing does not look at it.
struct sample_request {
  std::int64_t context = 0;  ///< tokens per sample
  sample_form form = sample_form::causal;
  std::vector<std::int64_t> image{};  ///< [channels, height, width]; empty: as the files are
  std::vector<std::string> inputs{};  ///< names of the tensors of a sample, in their order; empty: there is one
  /// Folder of the checkpoint that the model starts from: text is read by its tokenizer, images are prepared as it
  /// says, unless the data say otherwise. Empty: none.
  std::filesystem::path checkpoint{};
  /// What the classes of its head are called, in their order (class_names.hpp). Empty: the head is new, or has no
  /// classes.
  std::vector<std::string> labels{};
  std::vector<std::string> tokens{};  ///< that the tokenizer gets where it lacks them
  std::filesystem::path tokenizer{};  ///< folder of one that text is read by instead of the checkpoint's; empty: none

  const std::filesystem::path& tokenizer_folder() const { return tokenizer.empty() ? checkpoint : tokenizer; }
  friend auto operator<=>(const sample_request&, const sample_request&) = default;
};

/// Mean cross entropy per target, in nats, of a predictor that knows the source and sees what a model sees.
struct loss_floor {
  double entropy = 0;   ///< on average over all texts of the source: exact
  double log_loss = 0;  ///< on these very samples; approaches `entropy` with their number
};

/// Records that samples are made of.
struct record_census {
  std::size_t records = 0;
  std::size_t shortened = 0;  ///< that lost tokens, because they are longer than a sample
};

/// A finite set of samples. Thread-safe after construction. To add one, write a class like this (docs/extending.md).
class data_source {
 public:
  virtual ~data_source() = default;

  virtual std::size_t samples(split part) const = 0;
  virtual tensor_spec sample_input() const = 0;
  virtual tensor_spec sample_target() const = 0;
  /// Where an input consists of several tensors, which sample_input() has as a row of bits: these.
  virtual std::vector<sample_part> sample_parts() const { return {}; }
  /// Values of a model's output for one target: the number of classes it may take (vocabulary of a language model),
  /// or the size of a real target. 0: there are no targets.
  virtual std::int64_t classes() const = 0;

  /// Token ids in the inputs of samples of text are below it, where that is known and classes() is something else; else
  /// 0.
  virtual std::int64_t vocabulary() const { return 0; }

  /// Of causal samples of text: one more than the highest token id that they really have. A tokenizer, and so
  /// classes(), may have more tokens than their texts. Of other samples classes().
  virtual std::int64_t observed_vocabulary() const { return classes(); }

  /// For messages: the token of an id, if the source knows the tokenizer and that has such a token; else empty.
  virtual std::string token_text(std::int64_t /*id*/) const { return {}; }

  /// Writes sample `index` (raw bytes of the specs above); returns the number of targets that count.
  virtual std::size_t read(split part, std::size_t index, std::span<std::byte> input,
                           std::span<std::byte> target) const = 0;

  /// Of its targets' places (elements of sample_target()) those that are not padding.
  virtual std::size_t tokens_of(split /*part*/, std::size_t /*index*/) const {
    return static_cast<std::size_t>(sample_target().elements());
  }

  /// Where samples of text are made of records that have a length of their own.
  virtual std::optional<record_census> census(split /*part*/) const { return std::nullopt; }

  /// Throws fault_error{io} naming the file if one that samples are read from is not what it was when it was opened.
  /// Asked before each batch.
  virtual void require_unchanged() const {}

  /// What the classes are called, where they have names: classes() of them.
  virtual std::vector<std::string> class_names() const { return {}; }

  /// How samples were made of images' pixels, which were stretched to their size before; nothing if they are no such
  /// images.
  virtual std::optional<pixel_scale> pixel_scaling() const { return std::nullopt; }

  /// For the user: what of its files was read past or left out, and how often. Sentences without an end.
  virtual std::vector<std::string> notes() const { return {}; }

  /// For messages: "text corpus.txt".
  virtual std::string describe() const = 0;

  /// Tells data from others that look alike: digests of the files' contents, the tokenizer's identity, the options that
  /// decide what a sample is. A run is resumed only with the same. Empty: nothing more is known than what samples
  /// themselves say.
  virtual std::string fingerprint() const { return {}; }

  /// What no model can beat on the first `samples` samples of a split (on all, if there are fewer), where it is known.
  virtual std::optional<loss_floor> floor(split /*part*/, std::size_t /*samples*/) const { return std::nullopt; }
};

/// Targets of -100 do not count: a last micro-batch that is not full can be filled with such.
inline bool masks_targets(const data_source& source) { return source.sample_target().type == element::i64; }
constexpr std::int64_t uncounted_target = -100;

}  // namespace hydra
