# Tests. The folder determines what a test may link: a test of tests/unit/net links net and its
# dependencies, tests of tests/world run simulated nodes, tests/process runs whole programs, and
# tests/bench contains benchmarks.
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)

file(GLOB SUPPORT CONFIGURE_DEPENDS tests/support/base/*.c)
add_library(support_base STATIC ${SUPPORT}) # without cmocka, for the benchmarks
target_include_directories(support_base PUBLIC tests)
target_link_libraries(support_base PUBLIC base m)
foreach(ROOM net model node state config sim library)
  file(GLOB SUPPORT CONFIGURE_DEPENDS tests/support/${ROOM}/*.c)
  add_library(support_${ROOM} STATIC ${SUPPORT})
  target_link_libraries(support_${ROOM} PUBLIC support_base ${ROOM} PkgConfig::CMOCKA)
endforeach()
foreach(ROOM node state sim) # their tests use the rumors of support_net
  target_link_libraries(support_${ROOM} PUBLIC support_net)
endforeach()

function(add_unit_tests FOLDER LIBRARY)
  file(GLOB SOURCES CONFIGURE_DEPENDS tests/${FOLDER}/test_*.c)
  foreach(SOURCE ${SOURCES})
    get_filename_component(NAME ${SOURCE} NAME_WE)
    add_executable(${NAME} ${SOURCE})
    target_link_libraries(${NAME} PRIVATE ${LIBRARY} PkgConfig::CMOCKA m)
    string(REPLACE "test_" "" TEST ${NAME})
    add_test(NAME ${TEST} COMMAND ${NAME})
  endforeach()
endfunction()

foreach(ROOM base net model node state config sim)
  add_unit_tests(unit/${ROOM} support_${ROOM})
endforeach()
# Tests of a strategy's workers link workers_stage.c instead of the frame that runs workers in the
# simulator.
foreach(NAME ako_parts adpsgd gosgd sgp strom threshold_strategy gaia downpour dlion gossipgrad gossip_sgd choco mlnet)
  target_sources(test_${NAME} PRIVATE tests/fakes/workers/workers_stage.c)
  target_include_directories(test_${NAME} PRIVATE tests/fakes)
endforeach()
target_compile_definitions(test_protocol PRIVATE
  PROTOCOL_PAGE="${CMAKE_SOURCE_DIR}/net/README.md") # contains the test vectors
foreach(NAME config_file shared_settings scenario_shipped)
  target_compile_definitions(test_${NAME} PRIVATE HEARSAY_CONFIGS="${CMAKE_SOURCE_DIR}/configs")
endforeach()
add_unit_tests(unit/executor "support_base;executor")
add_unit_tests(unit/page "support_base;page")
add_unit_tests(unit/web "support_base;web")
add_unit_tests(unit/daemon "support_base;commands")
target_link_libraries(test_learner_thread_batch PRIVATE support_model) # devices
add_unit_tests(unit/commands commands)
add_unit_tests(unit/plot plot)
if(HAVE_ONNX)
  add_unit_tests(unit/onnx "onnx;onnx_messages")
  target_sources(test_onnx_missing PRIVATE src/onnx/onnx_missing.c) # instead of the exporter
endif()
add_unit_tests(unit/library "support_library;library")
target_compile_definitions(test_library_daemon PRIVATE HEARSAY_PROGRAM="$<TARGET_FILE:hearsay>")
add_dependencies(test_library_daemon hearsay)
add_unit_tests(world support_sim)

add_executable(library_program tests/process/library_program.c)
target_link_libraries(library_program PRIVATE libhearsay)
add_test(NAME library_program COMMAND library_program)

# Random calls through hearsay.h: random_calls SEED CALLS. tests/README.md describes longer runs.
file(GLOB RANDOM_CALLS CONFIGURE_DEPENDS tests/process/random_calls/*.c)
add_executable(random_calls ${RANDOM_CALLS})
target_link_libraries(random_calls PRIVATE support_base library)
add_test(NAME random_calls COMMAND random_calls 1 20000)

add_executable(meddle tests/process/meddle.c)
add_executable(delay tests/process/delay.c)
add_library(faults MODULE tests/process/faults.c) # preloaded to inject faults
target_compile_options(faults PRIVATE -fno-builtin) # so that the compiler does not replace calls of malloc
foreach(SCRIPT swarm endings narrow_path from_model rewind text data bad_input sim comparison_command xor status doctor gpu deploy resume torture)
  add_test(NAME ${SCRIPT} COMMAND bash ${CMAKE_SOURCE_DIR}/tests/process/test_${SCRIPT}.sh
                                  $<TARGET_FILE:hearsay> $<TARGET_FILE:meddle>)
  set_tests_properties(${SCRIPT} PROPERTIES ENVIRONMENT "CUDA_VISIBLE_DEVICES=") # CPUs only
endforeach()
set_tests_properties(narrow_path PROPERTIES SKIP_RETURN_CODE 77)
set_tests_properties(torture PROPERTIES COST 1000) # starts first, because it takes longest
add_test(NAME user_service COMMAND bash ${CMAKE_SOURCE_DIR}/tests/process/test_user_service.sh
                                   $<TARGET_FILE:hearsay>)
set_tests_properties(user_service PROPERTIES SKIP_RETURN_CODE 77)
add_test(NAME story COMMAND bash ${CMAKE_SOURCE_DIR}/tests/process/test_story.sh)
add_test(NAME planted_list
         COMMAND bash ${CMAKE_SOURCE_DIR}/tests/planted/test_list.sh)
add_test(NAME page
         COMMAND python3 ${CMAKE_SOURCE_DIR}/tests/process/test_page.py $<TARGET_FILE:test_report>)
add_test(NAME prometheus
         COMMAND bash ${CMAKE_SOURCE_DIR}/tests/process/test_metrics.sh $<TARGET_FILE:hearsay>)
add_test(NAME web_page
         COMMAND python3 ${CMAKE_SOURCE_DIR}/tests/process/test_web_page.py $<TARGET_FILE:hearsay>)
if(NOT SANITIZE) # the page's program is compiled without the sanitizer's flags
  add_test(NAME library_page COMMAND bash ${CMAKE_SOURCE_DIR}/tests/process/test_library_page.sh
                                     $<TARGET_FILE:hearsay>)
endif()
add_test(NAME plot COMMAND bash ${CMAKE_SOURCE_DIR}/tests/process/test_plot.sh
                           $<TARGET_FILE:hearsay>)
add_test(NAME tensorboard COMMAND bash ${CMAKE_SOURCE_DIR}/tests/process/test_tensorboard.sh
                                  $<TARGET_FILE:hearsay>)
set_tests_properties(plot tensorboard PROPERTIES SKIP_RETURN_CODE 77 ENVIRONMENT "CUDA_VISIBLE_DEVICES=")
add_test(NAME help COMMAND bash ${CMAKE_SOURCE_DIR}/tests/process/test_help.sh
                           $<TARGET_FILE:hearsay> ${CMAKE_BINARY_DIR})
set(BINARIES hearsay hearsay-sim libhearsay)
if(HAVE_CUDA)
  list(APPEND BINARIES hearsay-cuda)
endif()
list(TRANSFORM BINARIES REPLACE "(.+)" "$<TARGET_FILE:\\1>")
add_test(NAME binaries COMMAND bash ${CMAKE_SOURCE_DIR}/tests/process/test_binaries.sh
                               ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR} ${BINARIES})
set_tests_properties(binaries PROPERTIES SKIP_RETURN_CODE 77)
add_test(NAME modes COMMAND bash ${CMAKE_SOURCE_DIR}/tests/process/test_modes.sh $<TARGET_FILE:hearsay>)
set_tests_properties(modes PROPERTIES ENVIRONMENT "CUDA_VISIBLE_DEVICES=")
add_test(NAME json COMMAND bash ${CMAKE_SOURCE_DIR}/tests/process/test_json.sh $<TARGET_FILE:hearsay>)
set_tests_properties(json PROPERTIES SKIP_RETURN_CODE 77 ENVIRONMENT "CUDA_VISIBLE_DEVICES=")
add_test(NAME shells COMMAND bash ${CMAKE_SOURCE_DIR}/tests/process/test_shells.sh
                                 $<TARGET_FILE:hearsay>)
set_tests_properties(help shells PROPERTIES SKIP_RETURN_CODE 77)
add_test(NAME model_command COMMAND bash ${CMAKE_SOURCE_DIR}/tests/process/test_model_command.sh
                                    $<TARGET_FILE:hearsay>)
add_test(NAME ask COMMAND bash ${CMAKE_SOURCE_DIR}/tests/process/test_ask.sh $<TARGET_FILE:hearsay>)
set_tests_properties(ask PROPERTIES ENVIRONMENT "CUDA_VISIBLE_DEVICES=")
add_test(NAME client COMMAND bash ${CMAKE_SOURCE_DIR}/tests/process/test_client.sh
                             $<TARGET_FILE:hearsay>)
add_test(NAME two_rumors COMMAND bash ${CMAKE_SOURCE_DIR}/tests/process/test_two_rumors.sh
                                 $<TARGET_FILE:hearsay>)
add_test(NAME key_holder COMMAND bash ${CMAKE_SOURCE_DIR}/tests/process/key_holder.sh
                                 $<TARGET_FILE:hearsay> --short)
add_test(NAME votes COMMAND bash ${CMAKE_SOURCE_DIR}/tests/process/test_votes.sh
                            $<TARGET_FILE:hearsay>)
add_test(NAME false_base_member COMMAND bash ${CMAKE_SOURCE_DIR}/tests/process/test_false_base.sh
                                        $<TARGET_FILE:hearsay>)
add_test(NAME claimed_base_member COMMAND bash ${CMAKE_SOURCE_DIR}/tests/process/test_claimed_base.sh
                                          $<TARGET_FILE:hearsay>)
add_test(NAME burst_member COMMAND bash ${CMAKE_SOURCE_DIR}/tests/process/test_burst.sh
                                   $<TARGET_FILE:hearsay>)
add_test(NAME pour COMMAND bash ${CMAKE_SOURCE_DIR}/tests/process/test_pour.sh
                           $<TARGET_FILE:hearsay>)
add_test(NAME begin_again COMMAND bash ${CMAKE_SOURCE_DIR}/tests/process/test_begin_again.sh
                                  $<TARGET_FILE:hearsay>)
add_test(NAME guard_remedy COMMAND bash ${CMAKE_SOURCE_DIR}/tests/process/test_guard.sh
                                   $<TARGET_FILE:hearsay>)
add_test(NAME mixed_labels COMMAND bash ${CMAKE_SOURCE_DIR}/tests/process/test_mixed_labels.sh
                                   $<TARGET_FILE:hearsay>)
add_test(NAME expel COMMAND bash ${CMAKE_SOURCE_DIR}/tests/process/test_expel.sh
                            $<TARGET_FILE:hearsay>)
add_test(NAME expel_since COMMAND bash ${CMAKE_SOURCE_DIR}/tests/process/test_expel_since.sh
                                  $<TARGET_FILE:hearsay>)
add_test(NAME listed COMMAND bash ${CMAKE_SOURCE_DIR}/tests/process/test_listed.sh
                                $<TARGET_FILE:hearsay>)
add_test(NAME admit COMMAND bash ${CMAKE_SOURCE_DIR}/tests/process/test_admit.sh
                            $<TARGET_FILE:hearsay>)
add_test(NAME rekey_nodes COMMAND bash ${CMAKE_SOURCE_DIR}/tests/process/test_rekey.sh
                                  $<TARGET_FILE:hearsay>)
set_tests_properties(key_holder client pour begin_again mixed_labels expel expel_since two_rumors votes false_base_member claimed_base_member burst_member listed admit rekey_nodes PROPERTIES ENVIRONMENT "CUDA_VISIBLE_DEVICES=") # CPUs only
add_test(NAME upgrade COMMAND bash ${CMAKE_SOURCE_DIR}/tests/process/test_upgrade.sh
                              $<TARGET_FILE:hearsay> ${CMAKE_BINARY_DIR}/previous)
set_tests_properties(upgrade PROPERTIES SKIP_RETURN_CODE 77 COST 900
                                        ENVIRONMENT "CUDA_VISIBLE_DEVICES=")
add_test(NAME keys COMMAND bash ${CMAKE_SOURCE_DIR}/tests/process/test_keys.sh
                           $<TARGET_FILE:hearsay>)
set_tests_properties(keys PROPERTIES ENVIRONMENT "CUDA_VISIBLE_DEVICES=" SKIP_RETURN_CODE 77)
add_test(NAME bad_log COMMAND bash ${CMAKE_SOURCE_DIR}/tests/process/test_log.sh $<TARGET_FILE:hearsay>)
set_tests_properties(bad_log PROPERTIES ENVIRONMENT "CUDA_VISIBLE_DEVICES=" SKIP_RETURN_CODE 77)
foreach(SCRIPT disk clock memory)
  add_test(NAME bad_${SCRIPT} COMMAND bash ${CMAKE_SOURCE_DIR}/tests/process/test_${SCRIPT}.sh
                                      $<TARGET_FILE:hearsay> $<TARGET_FILE:faults>)
  set_tests_properties(bad_${SCRIPT} PROPERTIES ENVIRONMENT "CUDA_VISIBLE_DEVICES=" SKIP_RETURN_CODE 77)
endforeach()
# Under load an answer of a node may take longer than these tests wait, so they run alone.
set_tests_properties(bad_disk expel_since PROPERTIES RUN_SERIAL ON)
add_executable(learn_steps tests/process/learn_steps.c)
target_link_libraries(learn_steps PRIVATE model m)
find_package(Python3 3.7 COMPONENTS Interpreter)
if(Python3_FOUND)
  add_test(NAME against_torch COMMAND Python3::Interpreter
           ${CMAKE_SOURCE_DIR}/tests/process/against_torch.py $<TARGET_FILE:learn_steps>)
  set_tests_properties(against_torch PROPERTIES SKIP_RETURN_CODE 77)
endif()
# Skipped if the system's Python lacks NumPy.
find_program(SYSTEM_PYTHON3 python3 PATHS /usr/bin NO_DEFAULT_PATH)
if(SYSTEM_PYTHON3)
  add_test(NAME numpy COMMAND ${SYSTEM_PYTHON3} ${CMAKE_SOURCE_DIR}/tests/process/test_numpy.py
                              $<TARGET_FILE:hearsay>)
  add_test(NAME raw_images COMMAND ${SYSTEM_PYTHON3} ${CMAKE_SOURCE_DIR}/tests/process/test_raw_images.py
                                   $<TARGET_FILE:hearsay> $<TARGET_FILE:hearsay-cuda-on-cpu>)
  set_tests_properties(numpy raw_images PROPERTIES SKIP_RETURN_CODE 77
                                                   ENVIRONMENT "CUDA_VISIBLE_DEVICES=")
endif()
# The Python package, with the library of this build, and installed from source. Python cannot load
# a library built with a sanitizer.
if(SYSTEM_PYTHON3 AND NOT SANITIZE)
  foreach(PART arrays finish log selection signals torch writes examples)
    add_test(NAME python_${PART} COMMAND ${SYSTEM_PYTHON3}
                                         ${CMAKE_SOURCE_DIR}/tests/process/test_python_${PART}.py)
    set_tests_properties(python_${PART} PROPERTIES SKIP_RETURN_CODE 77 ENVIRONMENT
      "PYTHONPATH=${CMAKE_SOURCE_DIR}/src/python;PYTHONDONTWRITEBYTECODE=1;OMP_NUM_THREADS=1;HEARSAY_LIBRARY=$<TARGET_FILE:libhearsay>;HEARSAY_PROGRAM=$<TARGET_FILE:hearsay>")
  endforeach()
  add_test(NAME python_install COMMAND bash ${CMAKE_SOURCE_DIR}/tests/process/test_python_install.sh
                                       ${SYSTEM_PYTHON3})
  set_tests_properties(python_install PROPERTIES SKIP_RETURN_CODE 77)
endif()

add_executable(model_file tests/process/model_file.c)
target_link_libraries(model_file PRIVATE config m)
if(Python3_FOUND)
  add_test(NAME against_transformers COMMAND Python3::Interpreter
           ${CMAKE_SOURCE_DIR}/tests/process/against_transformers.py $<TARGET_FILE:hearsay>
           $<TARGET_FILE:model_file>)
  set_tests_properties(against_transformers PROPERTIES SKIP_RETURN_CODE 77)
endif()
# Skipped without ONNX Runtime (./run deps --all installs it into build-onnxruntime).
if(Python3_FOUND)
  add_test(NAME onnx_runtime COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/process/test_onnx.py
                                     $<TARGET_FILE:hearsay> $<TARGET_FILE:model_file>)
  set_tests_properties(onnx_runtime PROPERTIES SKIP_RETURN_CODE 77 ENVIRONMENT "CUDA_VISIBLE_DEVICES=")
endif()
add_test(NAME spin COMMAND bash ${CMAKE_SOURCE_DIR}/tests/spin/test_spin.sh)
set_tests_properties(spin PROPERTIES SKIP_RETURN_CODE 77)
add_test(NAME sweep_neon COMMAND bash ${CMAKE_SOURCE_DIR}/tests/process/test_sweep_neon.sh)
set_tests_properties(prometheus web_page page key_holder client pour expel expel_since two_rumors votes false_base_member sweep_neon planted_list PROPERTIES SKIP_RETURN_CODE 77)

# House rules: sizes, includes, names and links (house); calls between rooms (house_calls); prose
# (house_prose); the page of constants (house_constants); and tests of these rules (house_rules).
if(Python3_FOUND)
  add_test(NAME house COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/house/house.py)
  add_test(NAME house_calls COMMAND Python3::Interpreter
                                    ${CMAKE_SOURCE_DIR}/tests/house/house_calls.py ${CMAKE_BINARY_DIR})
  add_test(NAME house_prose COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/house/prose.py)
  add_test(NAME house_constants
           COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/house/constants.py)
  add_test(NAME house_rules
           COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/house/test_house.py)
  # The archive of measurements, the page generated from it, and the figures that other pages quote.
  add_test(NAME results COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/results/results.py)
  add_test(NAME results_rules
           COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/results/test_results.py)
  set_tests_properties(house house_calls house_prose house_constants house_rules results results_rules PROPERTIES
                       ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1;CC=${CMAKE_C_COMPILER}")
else()
  message(STATUS "python3 not found: the house tests are left out")
endif()

# Tests of the GPU's backend and kernels on a stand-in for CUDA, without a GPU.
include(tests/fakes/cuda_on_cpu/cuda_on_cpu.cmake)

include(tests/fuzz/fuzz.cmake)

# Tests the attention graphs of the real cuDNN for described devices, without a GPU. cuDNN compiles
# a graph only if it finds libcuda; the CUDA Toolkit's stub suffices.
if(HAVE_CUDNN AND NOT SANITIZE AND EXISTS ${CUDAToolkit_LIBRARY_DIR}/stubs/libcuda.so)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/stubs)
  file(CREATE_LINK ${CUDAToolkit_LIBRARY_DIR}/stubs/libcuda.so ${CMAKE_BINARY_DIR}/stubs/libcuda.so.1
       SYMBOLIC)
  add_executable(test_flash_graph tests/gpu/test_flash_graph.c
                                  model/backend/cuda/backend_cuda_cudnn_graph.c)
  target_include_directories(test_flash_graph PRIVATE model)
  target_include_directories(test_flash_graph SYSTEM PRIVATE ${CUDNN_INCLUDE_DIR}
                                                             ${CUDAToolkit_INCLUDE_DIRS})
  target_link_libraries(test_flash_graph PRIVATE base PkgConfig::CMOCKA ${CUDNN_LIBRARY})
  set_target_properties(test_flash_graph PROPERTIES BUILD_RPATH "${CUDNN_LIBRARY_DIR}")
  add_test(NAME flash_graph COMMAND test_flash_graph)
  set_tests_properties(flash_graph PROPERTIES SKIP_RETURN_CODE 77
                       ENVIRONMENT "LD_LIBRARY_PATH=${CMAKE_BINARY_DIR}/stubs:$ENV{LD_LIBRARY_PATH}")
else()
  message(STATUS "No cuDNN with a CUDA Toolkit, or a sanitizer: the test flash_graph is left out")
endif()

# The operations of a training step and the bytes of memory that they move.
add_executable(step_plan tests/gpu/step_plan.c)
target_link_libraries(step_plan PRIVATE model m)
if(Python3_FOUND)
  add_test(NAME step_bytes COMMAND Python3::Interpreter
           ${CMAKE_SOURCE_DIR}/tests/gpu/test_step_bytes.py $<TARGET_FILE:step_plan>)
endif()

# Tests gpu/visit.sh on the stand-in. Also builds, for its step `ptx`, the module without kernels
# for any GPU, so that the driver has to compile them.
add_test(NAME gpu_visit COMMAND bash ${CMAKE_SOURCE_DIR}/tests/gpu/test_visit.sh ${CMAKE_BINARY_DIR})
set_tests_properties(gpu_visit PROPERTIES SKIP_RETURN_CODE 77 ENVIRONMENT "CUDA_VISIBLE_DEVICES=")
if(HAVE_CUDA)
  get_target_property(SOURCES hearsay-cuda SOURCES)
  add_library(hearsay-cuda-ptx MODULE EXCLUDE_FROM_ALL ${SOURCES})
  set_target_properties(hearsay-cuda-ptx PROPERTIES PREFIX "" CUDA_RUNTIME_LIBRARY Shared
                                                    CUDA_ARCHITECTURES 75-virtual)
  foreach(PROPERTY INCLUDE_DIRECTORIES LINK_LIBRARIES COMPILE_OPTIONS)
    get_target_property(VALUE hearsay-cuda ${PROPERTY})
    if(VALUE)
      set_target_properties(hearsay-cuda-ptx PROPERTIES ${PROPERTY} "${VALUE}")
    endif()
  endforeach()
endif()

file(GLOB BENCH_SOURCES CONFIGURE_DEPENDS tests/bench/bench_*.c)
foreach(SOURCE ${BENCH_SOURCES})
  get_filename_component(NAME ${SOURCE} NAME_WE)
  add_executable(${NAME} ${SOURCE})
  target_link_libraries(${NAME} PRIVATE support_base state m)
endforeach()
target_link_libraries(bench_library PRIVATE library)
target_link_options(bench_library PRIVATE -Wl,--wrap=executor_perform) # counts the orders
target_link_libraries(bench_link PRIVATE support_node)
target_link_libraries(bench_budget PRIVATE support_net)
target_link_libraries(bench_sums PRIVATE support_net)
target_link_libraries(bench_page PRIVATE web)
target_link_libraries(bench_gpu PRIVATE ${CMAKE_DL_LIBS})
