# Builds the GPU's module with cuda_on_cpu.cc in place of CUDA, and its tests.
enable_language(CXX)
set(KERNELS_ON_CPU)
foreach(KERNEL ${KERNEL_SOURCES})
  get_filename_component(NAME ${KERNEL} NAME_WE)
  set(SOURCE ${CMAKE_BINARY_DIR}/${NAME}_on_cpu.cc)
  file(CONFIGURE OUTPUT ${SOURCE} CONTENT "#include \"${KERNEL}\"\n")
  list(APPEND KERNELS_ON_CPU ${SOURCE})
endforeach()
# initial-exec keeps thread-local variables out of malloc. LeakSanitizer mistakes a block 16 bytes
# into a page for the thread-local storage of an old glibc, reads a missing header and crashes.
set(ON_CPU_FLAGS -Wall -Wextra -Wno-unknown-pragmas -ffp-contract=off -ftls-model=initial-exec)
if(WERROR)
  list(APPEND ON_CPU_FLAGS -Werror)
endif()
if(SANITIZE)
  list(APPEND ON_CPU_FLAGS -fsanitize=${SANITIZE} -fno-sanitize-recover=all)
endif()
add_library(cuda-on-cpu OBJECT ${CUDA_SOURCES} ${KERNELS_ON_CPU} tests/fakes/cuda_on_cpu/cuda_on_cpu.cc
                               tests/fakes/cuda_on_cpu/cublas_on_cpu.cc
                               tests/fakes/cuda_on_cpu/cublaslt_on_cpu.cc)
set_target_properties(cuda-on-cpu PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_include_directories(cuda-on-cpu BEFORE PUBLIC tests/fakes/cuda_on_cpu model)
target_compile_options(cuda-on-cpu PUBLIC "$<$<COMPILE_LANGUAGE:CXX>:${ON_CPU_FLAGS}>")
target_compile_definitions(cuda-on-cpu PRIVATE BLOCKS_MAX=3) # more blocks only take more time
target_compile_features(cuda-on-cpu PUBLIC cxx_std_17)
target_link_libraries(cuda-on-cpu PUBLIC base PkgConfig::BLAS)

# Two modules: one with convolutions as matrix products and with a fake NCCL; the other with cuDNN's
# convolutions and without NCCL.
add_library(hearsay-cuda-on-cpu MODULE model/backend/cuda/backend_cuda_conv.c
                                       model/backend/cuda/backend_cuda_no_flash.c
                                       model/backend/cuda/backend_cuda_team.c
                                       tests/fakes/cuda_on_cpu/nccl_on_cpu.cc)
add_library(hearsay-cudnn-on-cpu MODULE model/backend/cuda/backend_cuda_no_team.c
                                        model/backend/cuda/backend_cuda_cudnn.c
                                        model/backend/cuda/backend_cuda_cudnn_attention.c
                                        model/backend/cuda/backend_cuda_cudnn_graph.c
                                        model/backend/cuda/backend_cuda_cudnn_ways.c
                                        tests/fakes/cuda_on_cpu/cudnn_graph_on_cpu.cc
                                        tests/fakes/cuda_on_cpu/cudnn_on_cpu.cc)
foreach(MODULE hearsay-cuda-on-cpu hearsay-cudnn-on-cpu)
  set_target_properties(${MODULE} PROPERTIES PREFIX "" LINKER_LANGUAGE CXX)
  target_link_libraries(${MODULE} PRIVATE cuda-on-cpu ${CMAKE_DL_LIBS})
endforeach()
foreach(ROOM backend dense fused products logits entries gather augment adam optimizer_step transformer attention step channel_norm regression recording
             exchange rebase replica statistics weights evaluator label_fit sequence_learner step_time learner_thread_batch
             device library_device caller_stream sim_device setup reserve)
  add_test(NAME ${ROOM}_cuda_on_cpu COMMAND test_${ROOM})
  set_tests_properties(${ROOM}_cuda_on_cpu PROPERTIES ENVIRONMENT
                       HEARSAY_CUDA=$<TARGET_FILE:hearsay-cuda-on-cpu>)
endforeach()
add_test(NAME data_parallel_cuda_on_cpu COMMAND test_data_parallel)
set_tests_properties(data_parallel_cuda_on_cpu PROPERTIES ENVIRONMENT
  "CUDA_ON_CPU_DEVICES=3;HEARSAY_CUDA=$<TARGET_FILE:hearsay-cuda-on-cpu>;HEARSAY_NCCL=$<TARGET_FILE:hearsay-cuda-on-cpu>")
add_test(NAME random_calls_cuda_on_cpu COMMAND random_calls 2 20000)
set_tests_properties(random_calls_cuda_on_cpu PROPERTIES ENVIRONMENT
                     HEARSAY_CUDA=$<TARGET_FILE:hearsay-cuda-on-cpu>)
foreach(ROOM backend device data_parallel attention flash precision)
  add_test(NAME ${ROOM}_cudnn_on_cpu COMMAND test_${ROOM})
  set_tests_properties(${ROOM}_cudnn_on_cpu PROPERTIES ENVIRONMENT
                       HEARSAY_CUDA=$<TARGET_FILE:hearsay-cudnn-on-cpu>)
endforeach()
set_tests_properties(data_parallel_cudnn_on_cpu PROPERTIES ENVIRONMENT
                     "CUDA_ON_CPU_DEVICES=3;HEARSAY_CUDA=$<TARGET_FILE:hearsay-cudnn-on-cpu>")
set_tests_properties(gpu PROPERTIES ENVIRONMENT STAND_IN=$<TARGET_FILE:hearsay-cuda-on-cpu>)
