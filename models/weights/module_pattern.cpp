#include "models/weights/module_pattern.hpp"

#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>
#include <cstddef>
#include <utility>

namespace hydra {
namespace {

constexpr std::uint32_t full_match = PCRE2_UTF | PCRE2_ANCHORED | PCRE2_ENDANCHORED | PCRE2_NEVER_BACKSLASH_C;

PCRE2_SPTR units_of(std::string_view text) noexcept { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

}  // namespace

struct module_pattern::compiled {
  using match_data = std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)>;

  compiled(const std::string& pattern, std::string from) : source{pattern}, place{std::move(from)} {
    int error = 0;
    std::size_t at = 0;
    code = pcre2_compile(units_of(source), source.size(), full_match, &error, &at, nullptr);
    if (!code) refuse_for(error);
  }
  ~compiled() { pcre2_code_free(code); }
  compiled(const compiled&) = delete;
  compiled& operator=(const compiled&) = delete;

  [[noreturn]] void refuse_for(int error) const {
    std::array<PCRE2_UCHAR, 256> why{};
    pcre2_get_error_message(error, why.data(), why.size());
    refuse(fmt::format("{}: the pattern \"{}\": {}", place, shown(source), reinterpret_cast<const char*>(why.data())));
  }

  /// Null if the name does not match.
  match_data match(std::string_view name) const {
    match_data found{pcre2_match_data_create_from_pattern(code, nullptr), &pcre2_match_data_free};
    const int result = pcre2_match(code, units_of(name), name.size(), 0, 0, found.get(), nullptr);
    if (result < 0 && result != PCRE2_ERROR_NOMATCH) refuse_for(result);
    if (result < 0) found.reset();
    return found;
  }

  std::string source, place;
  pcre2_code* code = nullptr;
};

module_pattern::module_pattern(const std::string& pattern, std::string place)
    : compiled_{std::make_shared<const compiled>(pattern, std::move(place))} {}

bool module_pattern::matches(std::string_view name) const { return compiled_->match(name) != nullptr; }

std::optional<std::string> module_pattern::group_in(std::string_view name, const char* group) const {
  const auto found = compiled_->match(name);
  if (!found) return std::nullopt;
  const int number = pcre2_substring_number_from_name(compiled_->code, reinterpret_cast<PCRE2_SPTR>(group));
  if (number < 0) compiled_->refuse_for(number);
  const PCRE2_SIZE* const place = pcre2_get_ovector_pointer(found.get()) + std::ptrdiff_t{2} * number;
  return place[0] == PCRE2_UNSET ? std::string{} : std::string{name.substr(place[0], place[1] - place[0])};
}

}  // namespace hydra
