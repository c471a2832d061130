#include "runtime/base/rethrow.hpp"

#include "runtime/base/fault.hpp"

#include <c10/util/Exception.h>

#include <exception>

namespace hydra {

void rethrow_from(const std::string& where) {
  try {
    throw;
  } catch (c10::Error& e) {
    e.add_context(where);
    throw;
  } catch (...) {
    const auto why = to_fault(std::current_exception());
    throw fault_error{why.code, where + ": " + why.text};
  }
}

}  // namespace hydra
