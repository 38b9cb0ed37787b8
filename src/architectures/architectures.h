// One function per architecture: the whole model, as it would be drawn on a board. `loops` is how often the
// repeated part runs. Sources at each; equations in docs/architectures.md.
#pragma once
#include "architectures/config.h"
#include "plan/builder.h"

namespace onceover {

void transformer(Builder& b, const Config& c, int loops);               // transformer.cpp
void universal(Builder& b, const Config& c, int loops);                 // universal.cpp
void ouro(Builder& b, const Config& c, int loops);                      // ouro.cpp
void rins(Builder& b, const Config& c, int loops);                      // rins.cpp
void yoco_u(Builder& b, const Config& c, int loops);                    // yoco.cpp; one loop is YOCO
void yoco_upper_loop(Builder& b, const Config& c, int loops);           // yoco_upper_loop.cpp
void yoco_upper_loop_unshared(Builder& b, const Config& c, int loops);  // yoco_upper_loop.cpp
void yoco_plus(Builder& b, const Config& c, int loops);                 // yoco_plus.cpp

}  // namespace onceover
