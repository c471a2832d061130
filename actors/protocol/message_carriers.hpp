#pragma once
// CAF's type information for the messages. All of them, except those of advice.hpp, are local to the process: they
// carry handles of local actors, code or memory. Devices on other machines will have an interface of their own, whose
// messages are serialised; a local-only type sent to a remote actor would arrive as a default value without any error.

#include "actors/protocol/checkpoint.hpp"
#include "actors/protocol/execution.hpp"
#include "actors/protocol/input.hpp"
#include "actors/protocol/joining.hpp"
#include "actors/protocol/observation.hpp"
#include "actors/protocol/release.hpp"
#include "actors/protocol/run.hpp"
#include "actors/protocol/run_status.hpp"
#include "actors/protocol/scheduling.hpp"
#include "actors/protocol/steering.hpp"
#include "actors/protocol/update.hpp"

// The templates are instantiated once, in message_carriers.cpp, instead of in every actor that sends a message.
#define HYDRA_CARRIERS_OF(M, PREFIX)                                                          \
  namespace caf {                                                                             \
  PREFIX template class detail::tuple_vals_impl<detail::message_data, hydra::M>;              \
  PREFIX template class detail::tuple_vals_impl<type_erased_tuple, hydra::M>;                 \
  PREFIX template class detail::tuple_vals<hydra::M>;                                         \
  PREFIX template class detail::type_erased_value_impl<hydra::M>;                             \
  }
#define HYDRA_DECLARE_MESSAGE(M)           \
  CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hydra::M) \
  HYDRA_CARRIERS_OF(M, extern)

HYDRA_MESSAGES(HYDRA_DECLARE_MESSAGE)
