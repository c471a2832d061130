#pragma once
// A TIFF file in memory, as libtiff reads it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#define TIFF_DISABLE_DEPRECATED  // types with the names of others' in the global namespace
#include <tiffio.h>

namespace hydra {

/// Stands at the first page after its constructor. What libtiff says is kept here, not written to stderr; nothing of
/// the process is set.
class tiff_file {
 public:
  static constexpr tmsize_t most_bytes = tmsize_t{1} << 30;  ///< of one piece of memory

  /// Throws fault_error{bad_input} for bytes without a page.
  explicit tiff_file(std::span<const std::byte> bytes);
  tiff_file(const tiff_file&) = delete;
  tiff_file& operator=(const tiff_file&) = delete;

  TIFF* get() const noexcept { return codec_.get(); }

  /// The number of a tag, which libtiff has as T; without the tag its default in the standard, or else `otherwise`.
  template <class T>
  T number(std::uint32_t tag, T otherwise = 0) const {
    T found = otherwise;
    TIFFGetFieldDefaulted(get(), tag, &found);
    return found;
  }

  /// Throws fault_error{bad_input} unless pixels were read, and without a message that some are lost.
  void require_read(bool done) const;

 private:
  struct closing {
    void operator()(TIFF* codec) const { TIFFClose(codec); }
  };

  static tmsize_t take(thandle_t self, void* to, tmsize_t count);
  static toff_t seek(thandle_t self, toff_t by, int from);
  static int map(thandle_t self, void** base, toff_t* size);
  static int hear_error(TIFF*, void* self, const char* module, const char* format, va_list values);
  static int hear_warning(TIFF*, void* self, const char* module, const char* format, va_list values);

  void keep(std::string_view text);

  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  char text_[200]{};  ///< the last error
  std::unique_ptr<TIFF, closing> codec_;
};

}  // namespace hydra
