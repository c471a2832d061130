#pragma once
// The public header: #include <hydra/hydra.hpp>

#include "actors/early_stop.hpp"
#include "actors/events.hpp"
#include "actors/policy/catalog.hpp"
#include "actors/report.hpp"
#include "actors/session.hpp"
#include "models/catalog.hpp"
#include "models/cnn.hpp"
#include "models/data_catalog.hpp"
#include "models/gpt2.hpp"
#include "models/hub/hub_folder.hpp"
#include "models/mlp.hpp"
#include "models/resnet.hpp"
#include "models/update_rule.hpp"
#include "runtime/bytes.hpp"
#include "runtime/cpu_device.hpp"
