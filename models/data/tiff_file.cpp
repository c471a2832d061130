#include "models/data/tiff_file.hpp"

#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace hydra {
namespace {

using namespace std::string_view_literals;

using open_options = std::unique_ptr<TIFFOpenOptions, decltype(&TIFFOpenOptionsFree)>;

constexpr int is_dealt_with = 1;  // libtiff does not call the handlers of the process

tmsize_t write_nothing(thandle_t, void*, tmsize_t) { return 0; }
int close_nothing(thandle_t) { return 0; }
void unmap_nothing(thandle_t, void*, toff_t) {}

/// The decoders of JPEG and fax go on after such warnings, and make pixels up.
bool tells_of_lost_pixels(std::string_view warning) {
  static constexpr std::array beginnings{
      "Corrupt JPEG data"sv, "Premature end of JPEG"sv, "Improper JPEG strip/tile size"sv,
      "Premature EOL"sv,     "Premature EOF"sv,         "Line length mismatch"sv};
  if (warning.find("extraneous bytes") != warning.npos) return false;
  return std::ranges::any_of(beginnings, [&](std::string_view b) { return warning.starts_with(b); });
}

[[noreturn]] void refuse_because(const std::string& what, std::string_view why) {
  refuse(why.empty() ? what : fmt::format("{}: {}", what, why));
}

}  // namespace

tiff_file::tiff_file(std::span<const std::byte> bytes) : bytes_(bytes) {
  const open_options options{TIFFOpenOptionsAlloc(), TIFFOpenOptionsFree};
  if (!options) throw fault_error{fault_code::internal, "libtiff has no memory"};
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), hear_error, this);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), hear_warning, this);
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), most_bytes);
  const auto size = [](thandle_t self) -> toff_t { return static_cast<tiff_file*>(self)->bytes_.size(); };
  codec_.reset(TIFFClientOpenExt("TIFF", "r", this, take, write_nothing, seek, close_nothing, size, map, unmap_nothing,
                                 options.get()));
  if (!codec_) refuse_because("it is damaged, or its end is missing", text_);
  text_[0] = '\0';  // of tags that do not matter
}

void tiff_file::require_read(bool done) const {
  if (!done || text_[0] != '\0') refuse_because("its pixels are damaged", text_);
}

tmsize_t tiff_file::take(thandle_t self, void* to, tmsize_t count) {
  auto& file = *static_cast<tiff_file*>(self);
  const auto rest = file.bytes_.subspan(std::min(file.at_, file.bytes_.size()));
  const std::size_t taken = std::min(static_cast<std::size_t>(count), rest.size());
  std::memcpy(to, rest.data(), taken);
  file.at_ += taken;
  return static_cast<tmsize_t>(taken);
}

toff_t tiff_file::seek(thandle_t self, toff_t by, int from) {
  auto& file = *static_cast<tiff_file*>(self);
  file.at_ = by + (from == SEEK_CUR ? file.at_ : from == SEEK_END ? file.bytes_.size() : 0);
  return file.at_;
}

int tiff_file::map(thandle_t self, void** base, toff_t* size) {
  const auto bytes = static_cast<tiff_file*>(self)->bytes_;
  *base = const_cast<std::byte*>(bytes.data());  // which libtiff only reads
  *size = bytes.size();
  return 1;
}

int tiff_file::hear_error(TIFF*, void* self, const char*, const char* format, va_list values) {
  char text[sizeof text_];
  std::vsnprintf(text, sizeof text, format, values);
  static_cast<tiff_file*>(self)->keep(text);
  return is_dealt_with;
}

int tiff_file::hear_warning(TIFF*, void* self, const char*, const char* format, va_list values) {
  char text[sizeof text_];
  std::vsnprintf(text, sizeof text, format, values);
  if (tells_of_lost_pixels(text)) static_cast<tiff_file*>(self)->keep(text);
  return is_dealt_with;
}

/// No memory is asked for: an exception must not pass through C code.
void tiff_file::keep(std::string_view text) { text_[text.copy(text_, sizeof text_ - 1)] = '\0'; }

}  // namespace hydra
