#include "actors/protocol/message_carriers.hpp"

#define HYDRA_DEFINE_MESSAGE(M) HYDRA_CARRIERS_OF(M, )

HYDRA_MESSAGES(HYDRA_DEFINE_MESSAGE)
