// Any bytes as a comparison's recipe: refused with an Error, or a recipe that can be checked.
#include "compare/recipe.h"

#include <cstdint>
#include <string_view>

#include "answer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace onceover;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  expect_answer([&] {
    const Recipe recipe = recipe_from_toml(text, "input");
    check_recipe(recipe);
  });
  return 0;
}
