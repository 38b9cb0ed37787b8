# onceover_library(NAME [DEPENDS module…] [LINK library…])
# Every .cpp file of the current folder becomes the static library onceover_NAME; a folder of headers becomes an interface.
# DEPENDS names the modules of this project
# that its files may include: all of them, so that no include works by luck of another's. The test standards/include_rules
# holds the list, as onceover_write_modules() writes it, against the #include lines.
function(onceover_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(sources)
    set(scope PUBLIC)
    add_library(onceover_${name} STATIC ${sources})
  else()
    set(scope INTERFACE)
    add_library(onceover_${name} INTERFACE)
  endif()
  target_link_libraries(onceover_${name} ${scope} onceover_options)
  foreach(module ${ARG_DEPENDS})
    target_link_libraries(onceover_${name} ${scope} onceover_${module})
  endforeach()
  target_link_libraries(onceover_${name} ${scope} ${ARG_LINK})
  onceover_declare_module(${name} DEPENDS ${ARG_DEPENDS})
endfunction()

# onceover_declare_module(NAME [DEPENDS module…]): the line of a module, whether it is built or not.
function(onceover_declare_module name)
  cmake_parse_arguments(ARG "" "" "DEPENDS" ${ARGN})
  set_property(GLOBAL APPEND_STRING PROPERTY ONCEOVER_MODULES "${name}:${ARG_DEPENDS}\n")
endfunction()

# onceover_write_modules(): the modules declared so far, one line "name:dependency;dependency" each.
function(onceover_write_modules)
  get_property(modules GLOBAL PROPERTY ONCEOVER_MODULES)
  file(WRITE ${PROJECT_BINARY_DIR}/modules.txt "${modules}")
endfunction()

# onceover_test(FOLDER [RUNS_PROGRAM] [SHARDS n] [DEPENDS module…]): one GoogleTest program from tests/FOLDER/*.cpp.
# ctest starts it once for each test, or n times for a share of them where starting takes long.
function(onceover_test folder)
  cmake_parse_arguments(ARG "RUNS_PROGRAM" "SHARDS" "DEPENDS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp)
  add_executable(test_${folder} ${sources})
  target_link_libraries(test_${folder} PRIVATE onceover_options onceover_places GTest::gtest_main)
  foreach(module ${ARG_DEPENDS})
    target_link_libraries(test_${folder} PRIVATE onceover_${module})
  endforeach()
  target_compile_options(test_${folder} PRIVATE ${ONCEOVER_GLUE_OPTIONS})
  if(ARG_RUNS_PROGRAM)
    add_dependencies(test_${folder} onceover)
  endif()
  if(ARG_SHARDS)
    math(EXPR last "${ARG_SHARDS} - 1")
    foreach(shard RANGE ${last})
      add_test(NAME ${folder}/shard_${shard} COMMAND test_${folder} --gtest_brief=1)
      set_tests_properties(${folder}/shard_${shard} PROPERTIES
        ENVIRONMENT "GTEST_TOTAL_SHARDS=${ARG_SHARDS};GTEST_SHARD_INDEX=${shard}")
    endforeach()
    return()
  endif()
  gtest_discover_tests(test_${folder} TEST_PREFIX ${folder}/ DISCOVERY_TIMEOUT 60 NO_PRETTY_VALUES)
endfunction()
