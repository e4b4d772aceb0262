# Mistakes that somebody may make some day, one program with each: every one must be found by storms
# of faults (test_planted.sh). Nothing of this is in the program itself.
#
#   NAME.patch ─► apply.sh ─► planted/NAME/FILE in the build folder ─► target planted_NAME
#
# The mistake's file is linked before the library that has the right one, which is left out then.
# `planted` builds them all, and planted/list.txt in the build folder lists them.
file(GLOB PATCHES CONFIGURE_DEPENDS tests/planted/*.patch)
set(PLANTED_FOLDER ${CMAKE_BINARY_DIR}/planted)
execute_process(COMMAND bash tests/planted/apply.sh ${PLANTED_FOLDER}
                WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} RESULT_VARIABLE FAILED)
if(FAILED)
  message(FATAL_ERROR "a patch of tests/planted does not apply")
endif()

add_library(planted_main OBJECT src/main.c) # once for all of them
target_link_libraries(planted_main PRIVATE commands sim)
add_custom_target(planted)

file(STRINGS ${PLANTED_FOLDER}/list.txt PLANTED_LINES)
foreach(LINE ${PLANTED_LINES})
  string(REGEX MATCH "^([^ ]+) [^ ]+ ([^ ]+)" _ ${LINE})
  set(NAME ${CMAKE_MATCH_1})
  set(FILE ${CMAKE_MATCH_2})
  add_executable(planted_${NAME} EXCLUDE_FROM_ALL ${PLANTED_FOLDER}/${NAME}/${FILE}
                                                  $<TARGET_OBJECTS:planted_main>)
  target_link_libraries(planted_${NAME} PRIVATE commands sim)
  target_compile_options(planted_${NAME} PRIVATE -w) # a mistake may leave something unused
  set_target_properties(planted_${NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY planted/${NAME})
  add_dependencies(planted planted_${NAME})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
               ${FILE} tests/planted/${NAME}.patch tests/planted/apply.sh)
endforeach()
