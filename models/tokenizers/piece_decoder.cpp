#include "models/tokenizers/piece_decoder.hpp"

#include "models/tokenizers/byte_tokens.hpp"
#include "runtime/base/utf8.hpp"

#include <utility>

namespace hydra {

namespace {

/// Moves the text of a run of bytes to `out`.
void end_run(std::string& run, std::vector<std::string>& out) {
  const bool valid = utf8_complaint(run).empty();
  for (std::size_t i = 0; !valid && i < run.size(); ++i) out.emplace_back("\uFFFD");
  if (valid && !run.empty()) out.push_back(run);
  run.clear();
}

std::string_view stripped(std::string_view token, const stripped_ends& ends) {
  for (std::size_t i = 0; i < ends.start && token.starts_with(ends.character); ++i)
    token.remove_prefix(ends.character.size());
  for (std::size_t i = 0; i < ends.stop && token.ends_with(ends.character); ++i)
    token.remove_suffix(ends.character.size());
  return token;
}

}  // namespace

std::string piece_decoder::text(std::vector<std::string> tokens) const {
  for (const step& each : steps_) each(tokens);
  std::string joined;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (steps_.empty() && i > 0) joined += ' ';
    joined += tokens[i];
  }
  return joined;
}

piece_decoder::step replace_in_tokens(text_replacement rule) {
  return [rule = std::move(rule)](std::vector<std::string>& tokens) {
    for (std::string& token : tokens)
      if (auto other = rule.apply(token)) token = std::move(*other);
  };
}

piece_decoder::step join_bytes() {
  return [](std::vector<std::string>& tokens) {
    std::vector<std::string> joined;
    joined.reserve(tokens.size());
    std::string run;
    for (std::string& token : tokens) {
      if (const auto byte = byte_of(token)) {
        run += *byte;
        continue;
      }
      end_run(run, joined);
      joined.push_back(std::move(token));
    }
    end_run(run, joined);
    tokens = std::move(joined);
  };
}

piece_decoder::step fuse_tokens() {
  return [](std::vector<std::string>& tokens) {
    std::string all;
    for (const std::string& token : tokens) all += token;
    tokens = {std::move(all)};
  };
}

piece_decoder::step strip_tokens(stripped_ends ends) {
  return [ends = std::move(ends)](std::vector<std::string>& tokens) {
    for (std::string& token : tokens) token = std::string{stripped(token, ends)};
  };
}

piece_decoder::step read_blanks(std::string written, bool has_prefix) {
  const text_replacement to_nothing{written, ""}, to_blank{std::move(written), " "};
  return [=](std::vector<std::string>& tokens) {
    for (std::size_t i = 0; i < tokens.size(); ++i)
      if (auto other = (i == 0 && has_prefix ? to_nothing : to_blank).apply(tokens[i])) tokens[i] = std::move(*other);
  };
}

}  // namespace hydra
