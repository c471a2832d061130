#include "models/layers/sum_of_pieces.hpp"

#include "models/layers/checks.hpp"
#include "models/pieces/piece_columns.hpp"
#include "models/pieces/token_columns.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

#include <utility>

namespace hydra {
namespace {

/// What an opening leaves in front of the columns behind the vectors.
enum class opened : std::uint8_t { n, x_and_n, n_and_x };

class sum_opening final : public layer {
 public:
  sum_opening(norm_function norm, std::int64_t width, bool targets, opened leaves)
      : norm_(std::move(norm)), width_(width), targets_(targets), leaves_(leaves) {}

  std::vector<parameter_spec> parameters() const override { return norm_.parameters; }

  tensor_spec output(const tensor_spec& input) const override {
    require_token_columns(norm_.name, input, width_, targets_);
    tensor_spec out = input;
    if (leaves_ != opened::n) out.shape.back() += width_;
    return out;
  }

  at::Tensor forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                     const layer_context&) const override {
    const auto [x, rest] = open_tokens(input, width_);
    if (leaves_ == opened::n) return close_tokens(norm_.of(parameters, x), rest);
    const passed_on both = pass_on(x);  // the gradient of what is passed on is added to the whole one of the norm
    const at::Tensor n = norm_.of(parameters, both.here);
    return leaves_ == opened::x_and_n ? join_columns({both.onward, n, rest}) : join_columns({n, both.onward, rest});
  }

  std::string signature() const override {
    return fmt::format("{}, opening {} width={}{}", norm_.name, static_cast<int>(leaves_), width_,
                       targets_ ? " targets" : "");
  }

 private:
  norm_function norm_;
  std::int64_t width_;
  bool targets_;
  opened leaves_;
};

/// A term that is added to the sum of those before it.
class term_in_turn final : public layer {
 public:
  /// `begins`: the sum begins with it.
  term_in_turn(std::shared_ptr<const piece_term> term, bool begins, const piece_place& piece)
      : term_(std::move(term)), begins_(begins), piece_(piece) {}

  std::vector<parameter_spec> parameters() const override { return term_->parameters(); }

  tensor_spec output(const tensor_spec& input) const override {
    const sum_columns columns = term_->columns();
    tensor_spec known = begins_ ? term_->known(input) : input;
    if (!begins_ && !known.shape.empty()) known.shape.back() -= columns.behind.value_or(columns.sum);
    require_known(known);
    known.shape.back() = columns.sum + columns.behind.value_or(0) +
                         (piece_.last() ? columns.following(known.shape.back()) : known.shape.back());
    return known;
  }

  at::Tensor forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                     const layer_context& context) const override {
    const auto [before, known] = open(parameters, input);
    const passed_on both = piece_.last() ? passed_on{.onward = {}, .here = known} : pass_on(known);
    const at::Tensor term = term_->of(parameters, both.here, context);
    const at::Tensor onward = piece_.last() ? term_->behind_sum(known) : both.onward;
    if (term_->columns().behind) return join_columns({before, term, onward});
    return join_columns({begins_ ? term : before.add(term), onward});
  }

  std::string signature() const override {
    return fmt::format("{} of {} pieces of {}{}", name_of(piece_), piece_.of, term_->signature(),
                       begins_ ? ", begins a sum" : "");
  }

 private:
  void require_known(const tensor_spec& known) const {
    require_input(signature(), known, element::f32, known.shape.size());
    if (known.shape.back() < term_->columns().used)
      refuse(fmt::format("{} gets {} columns, and wants {}", signature(), known.shape.back(), term_->columns().used));
  }

  struct opened_input {
    at::Tensor before{}, known{};
  };
  opened_input open(std::span<const at::Tensor> parameters, const at::Tensor& input) const {
    if (begins_) return {.known = term_->known(input, parameters[0].scalar_type())};
    const std::int64_t sum = term_->columns().behind.value_or(term_->columns().sum);
    const auto parts = split_columns(input, {sum, input.size(-1) - sum});
    return {.before = parts[0], .known = parts[1]};
  }

  std::shared_ptr<const piece_term> term_;
  bool begins_;
  piece_place piece_;
};

/// A term that others add. With the columns behind the sum if the sum begins with it.
class term_alone final : public layer {
 public:
  term_alone(std::shared_ptr<const piece_term> term, bool begins, const piece_place& piece)
      : term_(std::move(term)), begins_(begins), piece_(piece) {}

  std::vector<parameter_spec> parameters() const override { return term_->parameters(); }

  tensor_spec output(const tensor_spec& input) const override {
    tensor_spec out = term_->known(input);
    const sum_columns columns = term_->columns();
    require_input(signature(), out, element::f32, out.shape.size());
    out.shape.back() = columns.sum + (begins_ ? columns.following(out.shape.back()) : 0);
    return out;
  }

  at::Tensor forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                     const layer_context& context) const override {
    const at::Tensor known = term_->known(input, parameters[0].scalar_type());
    const at::Tensor term = term_->of(parameters, known, context);
    return begins_ ? join_columns({term, term_->behind_sum(known)}) : term;
  }

  std::string signature() const override {
    return fmt::format("{} of {} pieces side by side of {}{}", piece_.first() ? "first" : "other", piece_.of,
                       term_->signature(), begins_ ? ", begins a sum" : "");
  }

 private:
  std::shared_ptr<const piece_term> term_;
  bool begins_;
  piece_place piece_;
};

/// [sum | x | rest] -> [x + norm(sum) | rest].
class normed_sum final : public layer {
 public:
  normed_sum(norm_function norm, std::int64_t width, bool targets)
      : norm_(std::move(norm)), width_(width), targets_(targets) {}

  std::vector<parameter_spec> parameters() const override { return norm_.parameters; }

  tensor_spec output(const tensor_spec& input) const override {
    tensor_spec out = input;
    if (!out.shape.empty()) out.shape.back() -= width_;
    require_token_columns(norm_.name, out, width_, targets_);
    return out;
  }

  at::Tensor forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                     const layer_context&) const override {
    const auto parts = split_columns(input, {width_, input.size(-1) - width_});
    const auto [x, rest] = open_tokens(parts[1], width_);
    return close_tokens(x.add(norm_.of(parameters, parts[0])), rest);
  }

  std::string signature() const override {
    return fmt::format("{} of a sum width={}{}", norm_.name, width_, targets_ ? " targets" : "");
  }

 private:
  norm_function norm_;
  std::int64_t width_;
  bool targets_;
};

}  // namespace

std::shared_ptr<const layer> norm_of_tokens(const norm_function& norm, std::int64_t width, bool targets) {
  return std::make_shared<sum_opening>(norm, width, targets, opened::n);
}

std::shared_ptr<const layer> norm_of_sum(const norm_function& norm, std::int64_t width, bool targets) {
  return std::make_shared<normed_sum>(norm, width, targets);
}

std::vector<chain_part> layers_of(const sum_of_pieces& sum, const division& into) {
  using enum sum_of_pieces::input;
  if (into.side_by_side && sum.of_input == kept)
    refuse("its pieces cannot be computed side by side, because their sum is normed before it is added: leave out "
           "\"side_by_side\"");
  std::vector<chain_part> all;
  if (sum.opening) {
    const opened leaves = sum.of_input == kept                             ? opened::n_and_x
                          : sum.of_input == added && !into.side_by_side ? opened::x_and_n
                                                                        : opened::n;
    all.push_back({std::make_shared<sum_opening>(*sum.opening, sum.width, sum.targets, leaves)});
  }
  const auto join = sum.terms.front()->columns().behind ? term_join::columns
                    : sum.of_input == added             ? term_join::sum_with_input
                                                        : term_join::sum;
  for (std::uint32_t i = 0; i < into.pieces; ++i) {
    const bool begins = i == 0 && sum.of_input != added;
    const piece_place piece{i, into.pieces};
    if (into.side_by_side)
      all.push_back({std::make_shared<term_alone>(sum.terms[i], begins, piece), {piece, join}});
    else
      all.push_back({std::make_shared<term_in_turn>(sum.terms[i], begins, piece)});
  }
  if (sum.last) all.push_back({sum.last});
  return all;
}

}  // namespace hydra
