# Code that only calls the libraries (the verbs, the tests) is compiled quickly rather than well: headers of templates
# take half as long, and nothing runs slower.
set(ONCEOVER_GLUE_OPTIONS -O1)
if(ONCEOVER_SANITIZE)
  set(ONCEOVER_GLUE_OPTIONS -O0)
endif()

# Compiler settings that every target of the project shares, by linking to onceover_options.
add_library(onceover_options INTERFACE)
target_include_directories(onceover_options INTERFACE ${PROJECT_SOURCE_DIR}/src)
target_compile_options(onceover_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-qual -Wformat=2 -Wundef)
if(ONCEOVER_WERROR)
  target_compile_options(onceover_options INTERFACE -Werror)
endif()
if(ONCEOVER_SANITIZE)
  target_compile_options(onceover_options INTERFACE
    -fsanitize=${ONCEOVER_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(onceover_options INTERFACE -fsanitize=${ONCEOVER_SANITIZE})
endif()
