# Sets HAVE_CUDA if the GPU's backend can be built. WITH_CUDA=auto builds it if nvcc is found. A
# broken nvcc is an error, so that no user trains on the CPU by mistake.
set(WITH_CUDA auto CACHE STRING "The GPU: auto (if nvcc is found), ON or OFF")
set(HAVE_CUDA OFF)
if(NOT WITH_CUDA)
  return()
endif()
find_program(NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin)
if(NOT NVCC)
  if(NOT WITH_CUDA STREQUAL "auto")
    message(FATAL_ERROR "-DWITH_CUDA=ON, but there is no nvcc on the PATH or in /usr/local/cuda/bin: "
                        "install the CUDA Toolkit, or leave that option out.")
  endif()
  message(STATUS "GPU: none, because nvcc was not found")
  return()
endif()

# Compiles a small kernel. CMake's own check prints an error that is hard to read.
if(NOT NVCC_WORKS STREQUAL NVCC)
  set(PROBE ${CMAKE_BINARY_DIR}/CMakeFiles/nvcc_probe)
  file(WRITE ${PROBE}.cu "#include <cublas_v2.h>\n__global__ void nothing() {}\n")
  execute_process(COMMAND ${NVCC} -c ${PROBE}.cu -o ${PROBE}.o RESULT_VARIABLE FAILED
                  OUTPUT_VARIABLE SAYS ERROR_VARIABLE SAYS)
  if(FAILED)
    message(FATAL_ERROR "${NVCC} cannot compile:\n${SAYS}\nRepair it, or leave the "
                        "GPU out with -DWITH_CUDA=OFF.")
  endif()
  set(NVCC_WORKS ${NVCC} CACHE INTERNAL "")
endif()

# The driver compiles kernels at start if the module has no code for the GPU. A package has code for
# each GPU below that nvcc knows. Other builds have less code and compile faster. For newer GPUs the
# driver compiles the last virtual architecture.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND PACKAGES)
  execute_process(COMMAND ${NVCC} --list-gpu-code OUTPUT_VARIABLE KNOWN COMMAND_ERROR_IS_FATAL ANY)
  set(CMAKE_CUDA_ARCHITECTURES)
  foreach(GPU 75 80 86 89 90 100 120)
    if(KNOWN MATCHES "sm_${GPU}[^0-9a-z]")
      list(APPEND CMAKE_CUDA_ARCHITECTURES ${GPU}-real)
      set(LAST ${GPU}-virtual)
    endif()
  endforeach()
  list(APPEND CMAKE_CUDA_ARCHITECTURES ${LAST})
elseif(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 75-virtual 80-real 90)
endif()
set(CMAKE_CUDA_COMPILER ${NVCC} CACHE FILEPATH "")
enable_language(CXX)
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)
set(CMAKE_CUDA_STANDARD 17)
# No fused multiply-add, so that the exchange computes the same bits as on the CPU.
string(APPEND CMAKE_CUDA_FLAGS " -fmad=false -Xcompiler=-Wall,-Wextra,-Wno-unused-function")
# The host's part is compiled like the rest of the program (CMakeLists.txt).
string(APPEND CMAKE_CUDA_FLAGS " -Xcompiler=-fstack-protector-strong,-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=")
if(HAVE_STACK_CLASH_PROTECTION)
  string(APPEND CMAKE_CUDA_FLAGS " -Xcompiler=-fstack-clash-protection")
endif()
if(WERROR)
  string(APPEND CMAKE_CUDA_FLAGS " -Werror=all-warnings -Xcompiler=-Werror")
endif()
set(HAVE_CUDA ON)

# Sets HAVE_CUDNN if cuDNN computes convolutions and attention.
set(WITH_CUDNN auto CACHE STRING "Convolutions and attention by cuDNN: auto (if it is found), ON or OFF")
set(HAVE_CUDNN OFF)
if(WITH_CUDNN)
  find_path(CUDNN_INCLUDE_DIR cudnn.h HINTS ${CUDAToolkit_INCLUDE_DIRS} ENV CUDNN_PATH
            PATH_SUFFIXES include)
  find_library(CUDNN_LIBRARY cudnn HINTS ${CUDAToolkit_LIBRARY_DIR} ENV CUDNN_PATH
               PATH_SUFFIXES lib lib64)
  if(CUDNN_INCLUDE_DIR AND CUDNN_LIBRARY)
    set(HAVE_CUDNN ON)
    get_filename_component(CUDNN_LIBRARY_DIR ${CUDNN_LIBRARY} DIRECTORY)
  elseif(NOT WITH_CUDNN STREQUAL "auto")
    message(FATAL_ERROR "-DWITH_CUDNN=ON, but cudnn.h and libcudnn were not found: install cuDNN 9 or "
                        "later, name its folder in CUDNN_PATH, or leave that option out.")
  endif()
endif()

# Sets HAVE_NCCL if a node can use several GPUs. The module is compiled with nccl.h and loads
# libnccl only for several GPUs.
set(WITH_NCCL auto CACHE STRING "Several GPUs with NCCL: auto (if it is found), ON or OFF")
set(HAVE_NCCL OFF)
if(WITH_NCCL)
  find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS} ENV NCCL_HOME
            PATH_SUFFIXES include)
  find_library(NCCL_LIBRARY nccl HINTS ${CUDAToolkit_LIBRARY_DIR} ENV NCCL_HOME
               PATH_SUFFIXES lib lib64)
  if(NCCL_INCLUDE_DIR AND NCCL_LIBRARY)
    set(HAVE_NCCL ON)
    get_filename_component(NCCL_LIBRARY_DIR ${NCCL_LIBRARY} DIRECTORY)
  elseif(NOT WITH_NCCL STREQUAL "auto")
    message(FATAL_ERROR "-DWITH_NCCL=ON, but nccl.h and libnccl were not found: install NCCL 2, name "
                        "its folder in NCCL_HOME, or leave that option out.")
  endif()
endif()
message(STATUS "GPU: CUDA ${CUDAToolkit_VERSION}, cuDNN: ${HAVE_CUDNN}, NCCL: ${HAVE_NCCL}")
