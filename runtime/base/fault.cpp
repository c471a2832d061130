#include "runtime/base/fault.hpp"

#include "runtime/base/json_text.hpp"
#include "runtime/base/path_kind.hpp"
#include "runtime/base/thread_supply.hpp"

#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <ios>
#include <new>
#include <system_error>
#include <utility>

namespace hydra {

namespace {

fault no_host_memory() {
  return {fault_code::out_of_memory, "the host refused an allocation: it has no memory left"};
}

/// The text of a LibTorch error without its C++ backtrace, which is of no use in a report. LibTorch has an exception
/// type for device memory that cannot be allocated, but none for host memory.
fault of_torch(const c10::Error& e) {
  std::string text = e.what_without_backtrace();
  const bool of_host = text.find("DefaultCPUAllocator: ") != std::string::npos;
  return of_host ? no_host_memory() : fault{fault_code::internal, std::move(text)};
}

/// Refused threads; what other calls refuse comes as other types.
fault of_system(const std::system_error& e) {
  if (e.code() != std::errc::resource_unavailable_try_again) return {fault_code::internal, e.what()};
  return {fault_code::bad_input,
          fmt::format("no thread could be started ({}): {}", e.code().message(), more_threads())};
}

fault of_path(const std::filesystem::filesystem_error& e) {
  const std::string to = e.path2().empty() ? "" : " to " + e.path2().string();
  return {code_of(e.code()), e.path1().string() + to + ": " + e.code().message()};
}

/// Most derived types first.
fault translate(const std::exception_ptr& e) {
  try {
    std::rethrow_exception(e);
  } catch (const fault_error& x) {
    return x.what_happened();
  } catch (const c10::OutOfMemoryError& x) {
    return {fault_code::out_of_memory, x.what_without_backtrace()};
  } catch (const c10::Error& x) {
    return of_torch(x);
  } catch (const std::bad_alloc&) {
    return no_host_memory();
  } catch (const std::filesystem::filesystem_error& x) {
    return of_path(x);
  } catch (const nlohmann::json::exception& x) {
    return {fault_code::bad_input, json_complaint(x)};
  } catch (const std::ios_base::failure& x) {
    return {fault_code::io, x.what()};
  } catch (const std::system_error& x) {
    return of_system(x);
  } catch (const std::exception& x) {
    return {fault_code::internal, x.what()};
  } catch (...) {
    return {fault_code::internal, "an exception was thrown that is not a std::exception"};
  }
}

}  // namespace

std::string to_string(fault_code code) {
  switch (code) {
    case fault_code::none:
      return "none";
    case fault_code::bad_input:
      return "bad input";
    case fault_code::does_not_fit:
      return "does not fit";
    case fault_code::out_of_memory:
      return "out of memory";
    case fault_code::device_lost:
      return "device lost";
    case fault_code::dependency_failed:
      return "dependency failed";
    case fault_code::cancelled:
      return "cancelled";
    case fault_code::refused:
      return "refused";
    case fault_code::io:
      return "input/output";
    case fault_code::damaged:
      return "damaged";
    case fault_code::not_finite:
      return "not finite";
    case fault_code::interrupted: return "interrupted";
    case fault_code::internal:
      return "internal";
  }
  return "unknown fault";
}

fault_error::fault_error(fault_code code, std::string text) : fault_error(fault{code, std::move(text)}) {}

fault_error::fault_error(fault f) : std::runtime_error(f.text), fault_(std::move(f)) {}

fault to_fault(const std::exception_ptr& e) noexcept {
  try {
    return e ? translate(e) : fault{};
  } catch (...) {
    return {fault_code::out_of_memory, {}};  // the text of the fault could not be allocated either
  }
}

}  // namespace hydra
