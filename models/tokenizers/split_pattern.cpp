#include "models/tokenizers/split_pattern.hpp"

#include "models/tokenizers/pattern_syntax.hpp"
#include "models/tokenizers/unicode.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>

namespace hydra {

namespace {

constexpr std::uint32_t meaning = PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C;
constexpr std::size_t large_stack = 32 << 20;  // bytes; the small one of the JIT is enough for most texts

PCRE2_SPTR units(std::string_view text) noexcept { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

std::string message_of(int error) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(error, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

[[noreturn]] void refuse_pattern(const std::string& pattern, const std::string& why) {
  refuse(fmt::format("the pattern \"{}\": {}", shown(pattern), why));
}

}  // namespace

struct split_pattern::compiled {
  explicit compiled(const std::string& pattern) : source{pattern}, code{compile(pattern)} {
    pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);  // without a JIT, PCRE2 interprets
  }
  ~compiled() { pcre2_code_free(code); }
  compiled(const compiled&) = delete;
  compiled& operator=(const compiled&) = delete;

  static pcre2_code* compile(const std::string& pattern) {
    const std::string ours = to_pcre2(pattern);
    const std::unique_ptr<pcre2_compile_context, decltype(&pcre2_compile_context_free)> context{
        pcre2_compile_context_create(nullptr), &pcre2_compile_context_free};
    pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
    int error = 0;
    std::size_t at = 0;
    pcre2_code* const code = pcre2_compile(units(ours), ours.size(), meaning, &error, &at, context.get());
    if (!code) refuse_pattern(pattern, message_of(error));
    return code;
  }

  std::string source;
  pcre2_code* code;
};

split_pattern::split_pattern(const std::string& pattern) : compiled_{std::make_shared<const compiled>(pattern)} {}

split_pattern split_pattern::literal(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    if (std::string_view{"\\^$.|?*+()[]{}-&#"}.find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return split_pattern{pattern};
}

bool split_pattern::matches_empty() const noexcept {
  std::uint32_t may = 0;
  pcre2_pattern_info(compiled_->code, PCRE2_INFO_MATCHEMPTY, &may);
  return may != 0;
}

const std::string& split_pattern::gpt2() {
  static const std::string pattern = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
  return pattern;
}

struct pattern_search::memory {
  explicit memory(const pcre2_code* code) : found{pcre2_match_data_create_from_pattern(code, nullptr)} {}
  ~memory() {
    pcre2_match_data_free(found);
    pcre2_match_context_free(context);
    pcre2_jit_stack_free(stack);
  }
  memory(const memory&) = delete;
  memory& operator=(const memory&) = delete;

  void enlarge() {
    context = pcre2_match_context_create(nullptr);
    stack = pcre2_jit_stack_create(32 << 10, large_stack, nullptr);
    pcre2_jit_stack_assign(context, nullptr, stack);
  }

  pcre2_match_data* found;
  pcre2_match_context* context = nullptr;
  pcre2_jit_stack* stack = nullptr;
};

pattern_search::pattern_search(const split_pattern& pattern, std::string_view text)
    : pattern_{pattern}, text_{text}, memory_{std::make_unique<memory>(pattern.compiled_->code)} {}

pattern_search::~pattern_search() = default;

int pattern_search::match() {
  return pcre2_match(pattern_.compiled_->code, units(text_), text_.size(), from_, PCRE2_NO_UTF_CHECK, memory_->found,
                     memory_->context);
}

std::optional<pattern_search::found> pattern_search::next() {
  while (from_ <= text_.size()) {
    int result = match();
    if (result == PCRE2_ERROR_JIT_STACKLIMIT && !memory_->stack) {
      memory_->enlarge();
      result = match();
    }
    if (result == PCRE2_ERROR_NOMATCH) break;
    if (result < 0) refuse_pattern(pattern_.compiled_->source, fmt::format("{} at byte {}", message_of(result), from_));
    const std::size_t* const at = pcre2_get_ovector_pointer(memory_->found);
    from_ = at[1];
    if (at[0] < at[1]) return found{at[0], at[1]};
    from_ += from_ < text_.size() ? first_code_point(text_.substr(from_)).length : 1;
  }
  return std::nullopt;
}

}  // namespace hydra
