#include "models/sliced_weights.hpp"

#include "models/parameter_slice.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace hydra {
namespace {

class weights_of_pieces final : public weight_source {
 public:
  explicit weights_of_pieces(std::shared_ptr<const weight_source> whole) : whole_(std::move(whole)) {}

  bool read(const parameter_spec& p, std::span<float> values) const override {
    if (!p.slice) return whole_->read(p, values);
    parameter_spec of = p;
    of.name = whole_name(p.name);
    of.shape = p.slice->whole;
    of.slice.reset();
    if (read_rows_of(of, *p.slice, values)) return true;
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
  bool read_rows_of(const parameter_spec& of, const parameter_slice& slice, std::span<float> values) const {
    if (slice.dimension != 0) return false;
    const std::size_t width = values.size() / static_cast<std::size_t>(slice.shape().front());
    std::size_t at = 0;
    return std::ranges::all_of(slice.parts, [&](const parameter_slice::range& rows) {
      const std::size_t n = static_cast<std::size_t>(rows.size()) * width;
      return whole_->read_rows(of, rows, values.subspan(std::exchange(at, at + n), n));
    });
  }

  std::shared_ptr<const weight_source> whole_;
};

}  // namespace

std::shared_ptr<const weight_source> sliced_weights(std::shared_ptr<const weight_source> whole) {
  return std::make_shared<weights_of_pieces>(std::move(whole));
}

}  // namespace hydra
