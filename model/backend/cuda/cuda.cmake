# HAVE_CUDA: whether the GPU is built in. WITH_CUDA=auto takes it where nvcc is found; found but
# broken is an error, so that nobody trains on the CPU without knowing.
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
  message(STATUS "GPU: none, since there is no nvcc on the PATH")
  return()
endif()

# Does it compile? Asked by hand, for an answer that can be read.
if(NOT NVCC_WORKS STREQUAL NVCC)
  set(PROBE ${CMAKE_BINARY_DIR}/CMakeFiles/nvcc_probe)
  file(WRITE ${PROBE}.cu "#include <cublas_v2.h>\n__global__ void nothing() {}\n")
  execute_process(COMMAND ${NVCC} -c ${PROBE}.cu -o ${PROBE}.o RESULT_VARIABLE FAILED
                  OUTPUT_VARIABLE SAYS ERROR_VARIABLE SAYS)
  if(FAILED)
    message(FATAL_ERROR "${NVCC} is there, but does not compile:\n${SAYS}\nRepair it, or leave the "
                        "GPU out with -DWITH_CUDA=OFF.")
  endif()
  set(NVCC_WORKS ${NVCC} CACHE INTERNAL "")
endif()

# The driver compiles kernels at a start where the module has no code for the GPU. A package has code
# for each GPU that nvcc knows; a build here compiles faster. Newer GPUs translate the last.
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
# The CPU's arithmetic: a multiplication and an addition round twice.
string(APPEND CMAKE_CUDA_FLAGS " -fmad=false -Xcompiler=-Wall,-Wextra,-Wno-unused-function")
if(WERROR)
  string(APPEND CMAKE_CUDA_FLAGS " -Werror=all-warnings -Xcompiler=-Werror")
endif()
set(HAVE_CUDA ON)

# HAVE_CUDNN: whether it computes convolutions and attention.
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
    message(FATAL_ERROR "-DWITH_CUDNN=ON, but there is no cudnn.h with a libcudnn: install cuDNN 9 or "
                        "later, name its folder in CUDNN_PATH, or leave that option out.")
  endif()
endif()

# HAVE_NCCL: whether a node may use several GPUs. It is compiled against nccl.h, and libnccl loaded
# when several are asked for.
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
    message(FATAL_ERROR "-DWITH_NCCL=ON, but there is no nccl.h with a libnccl: install NCCL 2, name "
                        "its folder in NCCL_HOME, or leave that option out.")
  endif()
endif()
message(STATUS "GPU: CUDA ${CUDAToolkit_VERSION}, cuDNN: ${HAVE_CUDNN}, NCCL: ${HAVE_NCCL}")
