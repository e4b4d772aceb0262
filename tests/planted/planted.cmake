# Mistakes that somebody may make some day, one program with each. Nothing of this is in the program
# itself.
#
#   NAME.patch         storms of faults must find it (test_planted.sh): the program    planted_NAME
#   rules/NAME.patch   a unit test must find it (test_rules.sh): the test's program    rules_NAME
#
#   patch ─► apply.sh ─► planted/NAME/FILE or rules/NAME/FILE in the build folder ─► its target
#
# The mistake's file is linked before the library that has the right one, which is left out then.
# `planted` and `rules` build them all; list.txt in the folder of that name lists them.
function(plant KIND PATCHES)
  file(GLOB FILES CONFIGURE_DEPENDS ${PATCHES}/*.patch)
  set(FOLDER ${CMAKE_BINARY_DIR}/${KIND})
  execute_process(COMMAND bash tests/planted/apply.sh ${FOLDER} ${PATCHES}
                  WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} RESULT_VARIABLE FAILED)
  if(FAILED)
    message(FATAL_ERROR "a patch of ${PATCHES} does not apply")
  endif()
  add_custom_target(${KIND})
  file(STRINGS ${FOLDER}/list.txt LINES)
  foreach(LINE ${LINES})
    string(REGEX MATCH "^([^ ]+) ([^ ]+) ([^ ]+)" _ ${LINE})
    set(NAME ${CMAKE_MATCH_1})
    set(EXPECTED ${CMAKE_MATCH_2})
    set(FILE ${CMAKE_MATCH_3})
    set(PROGRAM hearsay-sim) # in which storms find that an invariant is broken
    if(EXPECTED MATCHES "^test_")
      set(PROGRAM ${EXPECTED})
    endif()
    get_target_property(LIBRARIES ${PROGRAM} LINK_LIBRARIES)
    add_executable(${KIND}_${NAME} EXCLUDE_FROM_ALL ${FOLDER}/${NAME}/${FILE}
                                                    $<TARGET_OBJECTS:${PROGRAM}>)
    target_link_libraries(${KIND}_${NAME} PRIVATE ${LIBRARIES})
    target_compile_options(${KIND}_${NAME} PRIVATE -w) # a mistake may leave something unused
    set_target_properties(${KIND}_${NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${KIND}/${NAME})
    add_dependencies(${KIND} ${KIND}_${NAME})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
                 ${FILE} ${PATCHES}/${NAME}.patch tests/planted/apply.sh)
  endforeach()
endfunction()

plant(planted ${CMAKE_SOURCE_DIR}/tests/planted)
if(TESTS)
  plant(rules ${CMAKE_SOURCE_DIR}/tests/planted/rules)
endif()
