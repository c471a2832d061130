#include "models/weights/module_pattern.hpp"

#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>

namespace hydra {
namespace {

constexpr std::uint32_t full_match = PCRE2_UTF | PCRE2_ANCHORED | PCRE2_ENDANCHORED | PCRE2_NEVER_BACKSLASH_C;

PCRE2_SPTR units_of(std::string_view text) noexcept { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

[[noreturn]] void refuse_pattern_of(const std::string& pattern, int error) {
  std::array<PCRE2_UCHAR, 256> why{};
  pcre2_get_error_message(error, why.data(), why.size());
  refuse(fmt::format("the pattern \"{}\": {}", pattern, reinterpret_cast<const char*>(why.data())));
}

}  // namespace

struct module_pattern::compiled {
  explicit compiled(const std::string& pattern) : source{pattern} {
    int error = 0;
    std::size_t at = 0;
    code = pcre2_compile(units_of(source), source.size(), full_match, &error, &at, nullptr);
    if (!code) refuse_pattern_of(source, error);
  }
  ~compiled() { pcre2_code_free(code); }
  compiled(const compiled&) = delete;
  compiled& operator=(const compiled&) = delete;

  std::string source;
  pcre2_code* code = nullptr;
};

module_pattern::module_pattern(const std::string& pattern) : compiled_{std::make_shared<const compiled>(pattern)} {}

bool module_pattern::matches(std::string_view name) const {
  const std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)> found{
      pcre2_match_data_create_from_pattern(compiled_->code, nullptr), &pcre2_match_data_free};
  const int result = pcre2_match(compiled_->code, units_of(name), name.size(), 0, 0, found.get(), nullptr);
  if (result < 0 && result != PCRE2_ERROR_NOMATCH) refuse_pattern_of(compiled_->source, result);
  return result >= 0;
}

}  // namespace hydra
