// What a user may name as a model: a preset, a config.json, or a model on disk (models/model_file.h).
#pragma once
#include <string>

#include "architectures/config.h"

namespace onceover {

// A path that exists wins over a preset of the same name; a folder stands for its config.json. Error with
// the nearest preset for an unknown name, with the path for a missing or faulty file.
Config find_model(const std::string& model);

// The checkpoint directory that comes with the program: models/default beside it. Error when it is not there.
std::string default_model();

}  // namespace onceover
