#include "models/sliced_weights.hpp"

#include "models/parameter_slice.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace hydra {
namespace {

/// Some rows of a stored parameter at a time.
class row_window {
 public:
  row_window(const weight_source& weights, parameter_spec whole)
      : weights_(weights),
        whole_(std::move(whole)),
        width_(std::max<std::int64_t>(whole_.elements() / std::max<std::int64_t>(whole_.shape.front(), 1), 1)) {}

  /// From an element of the whole on, at most `n`; empty if the weights cannot be read by rows.
  std::span<const float> at(std::size_t element, std::size_t n) {
    if (element < first_ || element >= first_ + values_.size()) fill(static_cast<std::int64_t>(element) / width_);
    const std::span<const float> from = std::span(values_).subspan(std::min(element - first_, values_.size()));
    return from.first(std::min(n, from.size()));
  }

 private:
  static constexpr std::int64_t most = 1 << 18;  ///< values, unless a row has more

  void fill(std::int64_t row) {
    const std::int64_t past = std::min(row + std::max<std::int64_t>(most / width_, 1), whole_.shape.front());
    first_ = static_cast<std::size_t>(row * width_);
    values_.resize(static_cast<std::size_t>((past - row) * width_));
    if (!weights_.read_rows(whole_, {row, past}, values_)) values_.clear();
  }

  const weight_source& weights_;
  parameter_spec whole_;
  std::int64_t width_;
  std::size_t first_ = 0;  ///< element of the whole
  std::vector<float> values_;
};

class weights_of_pieces final : public weight_source {
 public:
  explicit weights_of_pieces(std::shared_ptr<const weight_source> whole) : whole_(std::move(whole)) {}

  bool read(const parameter_spec& p, std::span<float> values) const override {
    if (!p.slice) return whole_->read(p, values);
    parameter_spec of = p;
    of.name = whole_name(p.name);
    of.shape = p.slice->whole;
    of.slice.reset();
    if (read_by_rows(of, *p.slice, values)) return true;
    std::vector<float> all(static_cast<std::size_t>(of.elements()));
    if (!whole_->read(of, all)) return false;
    p.slice->for_each_run([&](std::size_t in_whole, std::size_t in_slice, std::size_t n) {
      std::ranges::copy_n(all.begin() + static_cast<std::ptrdiff_t>(in_whole), static_cast<std::ptrdiff_t>(n),
                          values.begin() + static_cast<std::ptrdiff_t>(in_slice));
    });
    return true;
  }
  std::string identity() const override { return whole_->identity(); }
  std::string files() const override { return whole_->files(); }
  std::string origin(const std::string& parameter) const override { return whole_->origin(whole_name(parameter)); }
  bool differs_from_base(const std::string& parameter) const override {
    return whole_->differs_from_base(whole_name(parameter));
  }

 private:
  /// Without the whole parameter in memory.
  bool read_by_rows(const parameter_spec& of, const parameter_slice& slice, std::span<float> values) const {
    row_window window{*whole_, of};
    bool known = true;
    slice.for_each_run([&](std::size_t in_whole, std::size_t in_slice, std::size_t n) {
      while (known && n > 0) {
        const std::span<const float> some = window.at(in_whole, n);
        std::ranges::copy(some, values.begin() + static_cast<std::ptrdiff_t>(in_slice));
        known = !some.empty();
        in_whole += some.size();
        in_slice += some.size();
        n -= some.size();
      }
    });
    return known;
  }

  std::shared_ptr<const weight_source> whole_;
};

}  // namespace

std::shared_ptr<const weight_source> sliced_weights(std::shared_ptr<const weight_source> whole) {
  return std::make_shared<weights_of_pieces>(std::move(whole));
}

}  // namespace hydra
