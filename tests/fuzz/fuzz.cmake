# Fuzzing. Each fuzz_<name>.c is a program that runs the files of its corpus, as a test. Built with
# clang and -DSANITIZE=address,undefined,fuzzer-no-link, libFuzzer generates its inputs (./run
# fuzz).
set(FUZZ_CORPUS ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus)
if(SANITIZE MATCHES "fuzzer")
  add_library(fuzz_driver STATIC tests/fuzz/libfuzzer.c)
  target_link_options(fuzz_driver PUBLIC -fsanitize=fuzzer)
  # A node compares mostly times and counts. Tracing these comparisons takes a third of the time of
  # a script and gives libFuzzer no values to write into one.
  target_compile_options(node PRIVATE -fno-sanitize-coverage=trace-cmp)
else()
  add_library(fuzz_driver STATIC tests/fuzz/replay.c)
endif()
target_link_libraries(fuzz_driver PUBLIC support_base)

# add_harness(NAME LIBRARY...)
add_custom_target(fuzz)
function(add_harness NAME)
  add_executable(fuzz_${NAME} tests/fuzz/fuzz_${NAME}.c)
  add_dependencies(fuzz fuzz_${NAME})
  target_link_libraries(fuzz_${NAME} PRIVATE ${ARGN} fuzz_driver)
  set(SEEDS ${${NAME}_SEEDS})
  if(EXISTS ${FUZZ_CORPUS}/${NAME})
    list(APPEND SEEDS ${FUZZ_CORPUS}/${NAME})
  endif()
  add_test(NAME fuzz_${NAME} COMMAND fuzz_${NAME} ${SEEDS})
endfunction()

foreach(NAME frame message block body rumor record order proof vote)
  add_harness(${NAME} net)
endforeach()
add_harness(handshake node)

add_library(fuzz_file STATIC tests/fuzz/file.c)
target_link_libraries(fuzz_file PUBLIC support_base PRIVATE PkgConfig::Z)
foreach(NAME idx tokens npy layers)
  add_harness(${NAME} model fuzz_file)
endforeach()
add_harness(checkpoint support_state)
foreach(NAME safetensors member_list model_folder)
  add_harness(${NAME} state fuzz_file)
endforeach()
target_link_libraries(fuzz_model_folder PRIVATE PkgConfig::JANSSON)
add_harness(inference_words config)
add_harness(plot commands fuzz_file)
set(config_SEEDS ${CMAKE_SOURCE_DIR}/configs/node.conf)
add_harness(config config fuzz_file)
file(GLOB scenario_SEEDS CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/configs/sim-*.conf)
add_harness(scenario sim fuzz_file)

add_library(fuzz_scene STATIC tests/fuzz/scene.c tests/fuzz/scene_keep.c tests/fuzz/scene_learner.c
            tests/fuzz/play.c tests/fuzz/claims.c)
target_link_libraries(fuzz_scene PUBLIC support_base executor)
add_harness(member fuzz_scene)
if(SANITIZE MATCHES "fuzzer")
  target_compile_options(fuzz_scene PRIVATE -fno-sanitize-coverage=trace-cmp)
endif()
target_sources(fuzz_member PRIVATE tests/fuzz/memo.c)
target_link_libraries(fuzz_member PRIVATE PkgConfig::SODIUM)
foreach(CALL sign_detached sign_verify_detached scalarmult scalarmult_base)
  target_link_options(fuzz_member PRIVATE -Wl,--wrap=crypto_${CALL})
endforeach()

# Regenerates the seeds of the corpora with the current encoders.
add_executable(fuzz_seeds tests/fuzz/seeds.c tests/fuzz/seeds_wire.c tests/fuzz/seeds_files.c
               tests/fuzz/seeds_member.c)
target_link_libraries(fuzz_seeds PRIVATE support_state config)
add_test(NAME fuzz_seeds COMMAND bash ${CMAKE_SOURCE_DIR}/tests/fuzz/test_seeds.sh
                                 $<TARGET_FILE:fuzz_seeds> ${FUZZ_CORPUS})
