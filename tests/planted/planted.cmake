# Mutation tests: a program for each planted mistake. The product contains none of them.
#
#   NAME.patch         a storm of faults must detect it (test_planted.sh): target planted_NAME
#   rules/NAME.patch   a unit test must detect it (test_rules.sh): target rules_NAME
#
#   patch ─► apply.sh ─► planted/NAME/FILE or rules/NAME/FILE in the build folder ─► its target
#
# The linker takes the file with the mistake before the library, so it ignores the correct file
# there. The targets `planted` and `rules` build all their programs. list.txt in the folder of the
# same name lists them.
function(plant KIND PATCHES)
  file(GLOB FILES CONFIGURE_DEPENDS ${PATCHES}/*.patch)
  set(FOLDER ${CMAKE_BINARY_DIR}/${KIND})
  execute_process(COMMAND bash tests/planted/apply.sh ${FOLDER} ${PATCHES}
                  WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} RESULT_VARIABLE FAILED)
  if(FAILED)
    message(FATAL_ERROR "a patch in ${PATCHES} does not apply; see the messages above")
  endif()
  add_custom_target(${KIND})
  file(STRINGS ${FOLDER}/list.txt LINES)
  foreach(LINE ${LINES})
    string(REGEX MATCH "^([^ ]+) ([^ ]+) ([^ ]+)" _ ${LINE})
    set(NAME ${CMAKE_MATCH_1})
    set(EXPECTED ${CMAKE_MATCH_2})
    set(FILE ${CMAKE_MATCH_3})
    set(PROGRAM hearsay-sim) # its storms check the invariants
    if(EXPECTED MATCHES "^test_")
      set(PROGRAM ${EXPECTED})
    endif()
    get_target_property(LIBRARIES ${PROGRAM} LINK_LIBRARIES)
    add_executable(${KIND}_${NAME} EXCLUDE_FROM_ALL ${FOLDER}/${NAME}/${FILE}
                                                    $<TARGET_OBJECTS:${PROGRAM}>)
    target_link_libraries(${KIND}_${NAME} PRIVATE ${LIBRARIES})
    target_compile_options(${KIND}_${NAME} PRIVATE -w) # a mistake may leave a variable unused
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
