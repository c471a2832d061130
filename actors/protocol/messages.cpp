// The carriers of all messages (type_list.hpp).

#include "actors/protocol.hpp"

#define HYDRA_DEFINE_MESSAGE(M) HYDRA_CARRIERS_OF(M, )

HYDRA_MESSAGES(HYDRA_DEFINE_MESSAGE)
