# Builds Debian's packages: cpack -G DEB in a folder configured with -DPACKAGES=ON (./run packages).
#
#   component     package            content
#   program       hearsay            the program, its units, node.conf in /etc, pages
#   library       libhearsay2        libhearsay.so.2
#   development   libhearsay-dev     hearsay.h, files for compilers and linkers
#   python3       python3-hearsay    src/python, for Debian's python3
#   cuda          hearsay-cuda       the GPU's module, if nvcc was found
include(GNUInstallDirs)
set(OURS ${CMAKE_CURRENT_LIST_DIR})
set(MADE ${CMAKE_CURRENT_BINARY_DIR}/packages)
set(COMPONENTS program library development python3)
if(HAVE_CUDA)
  list(APPEND COMPONENTS cuda)
endif()
set(program_PACKAGE hearsay)
set(library_PACKAGE libhearsay2)
set(development_PACKAGE libhearsay-dev)
set(python3_PACKAGE python3-hearsay)
set(cuda_PACKAGE hearsay-cuda)
set(RELEASE 1)

# The version of an untagged commit, such as 1.2.0+git345, sorts after release 1.2.0 and before the
# next one.
set(PACKED_VERSION ${PROJECT_VERSION})
execute_process(COMMAND git describe --exact-match --match v${PROJECT_VERSION}
                WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} RESULT_VARIABLE UNRELEASED OUTPUT_QUIET ERROR_QUIET)
execute_process(COMMAND git rev-list --count HEAD WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
                OUTPUT_VARIABLE COMMITS OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(UNRELEASED AND COMMITS)
  string(APPEND PACKED_VERSION +git${COMMITS})
endif()
set(DEBIAN_VERSION ${PACKED_VERSION}-${RELEASE})
file(WRITE ${MADE}/version "${PACKED_VERSION}\n")

# Date of the last commit, so that two builds of a commit give equal packages.
if(DEFINED ENV{SOURCE_DATE_EPOCH})
  set(EPOCH $ENV{SOURCE_DATE_EPOCH})
else()
  execute_process(COMMAND git log -1 --format=%ct WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
                  OUTPUT_VARIABLE EPOCH OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT EPOCH)
  string(TIMESTAMP EPOCH %s UTC)
endif()
execute_process(COMMAND date -u -R -d @${EPOCH} OUTPUT_VARIABLE CHANGED
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)

function(compressed FROM TO)
  execute_process(COMMAND gzip -9nc ${FROM} OUTPUT_FILE ${TO} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
configure_file(${OURS}/changelog.in ${MADE}/changelog @ONLY)
compressed(${MADE}/changelog ${MADE}/changelog.Debian.gz)
compressed(${CMAKE_SOURCE_DIR}/CHANGELOG.md ${MADE}/changelog.gz)
foreach(COMPONENT ${COMPONENTS})
  install(FILES ${OURS}/copyright ${MADE}/changelog.Debian.gz ${MADE}/changelog.gz
          DESTINATION share/doc/${${COMPONENT}_PACKAGE} COMPONENT ${COMPONENT})
endforeach()

# Compresses the manual pages, as Debian requires. Cross builds have none.
install(CODE [[
  file(GLOB PAGES "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/share/man/man?/*.[1-8]")
  if(PAGES)
    execute_process(COMMAND gzip -9nf ${PAGES} COMMAND_ERROR_IS_FATAL ANY)
  endif()
]] COMPONENT program)
install(FILES configs/node.conf DESTINATION /etc/hearsay COMPONENT program)
install(DIRECTORY src/python/hearsay DESTINATION lib/python3/dist-packages COMPONENT python3
        FILES_MATCHING PATTERN "*.py" PATTERN py.typed PATTERN __pycache__ EXCLUDE)
install(DIRECTORY src/python/examples DESTINATION share/doc/python3-hearsay COMPONENT python3
        FILES_MATCHING PATTERN "*.py" PATTERN __pycache__ EXCLUDE)
install(FILES src/python/README.md DESTINATION share/doc/python3-hearsay COMPONENT python3)
install(FILES src/library/README.md DESTINATION share/doc/libhearsay-dev COMPONENT development)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "the hearsay authors <maintainers@hearsay.example>")
set(CPACK_PACKAGE_VERSION ${PACKED_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_SET_DESTDIR ON) # so that node.conf goes to /etc
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ
    GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL ${COMPONENTS})
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE ${RELEASE})
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
foreach(COMPONENT ${COMPONENTS})
  string(TOUPPER ${COMPONENT} NAME)
  set(CPACK_DEBIAN_${NAME}_PACKAGE_NAME ${${COMPONENT}_PACKAGE})
endforeach()

set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "trains one model on machines in several places
Each machine runs one node, which keeps a full copy of the model, trains on its
own data, gossips its progress to the others in compressed and encrypted form,
and never waits for other nodes. There is no server. At the end all nodes have
the same model, bit for bit.

Includes a simulator of such swarms, and units for systemd.")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS "init-system-helpers (>= 1.52)")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS dataset-fashion-mnist)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "hearsay-cuda, dict-gcide")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_CONTROL_EXTRA
    ${OURS}/hearsay/conffiles ${OURS}/hearsay/postinst ${OURS}/hearsay/prerm ${OURS}/hearsay/postrm)

set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "node of a hearsay swarm inside a program - library
For programs that train their own model. libhearsay exchanges training progress
with other nodes, in compressed and encrypted form, without a server.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${OURS}/libhearsay2/shlibs ${OURS}/libhearsay2/triggers)

set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "node of a hearsay swarm inside a program - development files
The header hearsay.h, and files for pkg-config and CMake's find_package, to
build programs that exchange training progress.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libhearsay2 (= ${DEBIAN_VERSION})")

set(CPACK_COMPONENT_PYTHON3_DESCRIPTION "node of a hearsay swarm in a training script of Python 3
A script keeps its model, loader, loss and device. With five more lines it
trains one model together with scripts on other machines. It gossips its
progress, applies the progress of others, and never waits for them.

For models of PyTorch and arrays of NumPy.")
set(CPACK_DEBIAN_PYTHON3_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON3_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON3_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_PYTHON3_PACKAGE_DEPENDS "python3:any (>= 3.9), libhearsay2 (>= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_PYTHON3_PACKAGE_RECOMMENDS "hearsay, python3-numpy")
set(CPACK_DEBIAN_PYTHON3_PACKAGE_SUGGESTS python3-torch)
set(CPACK_DEBIAN_PYTHON3_PACKAGE_CONTROL_EXTRA
    ${OURS}/python3-hearsay/postinst ${OURS}/python3-hearsay/prerm)

# Debian's main archive lacks CUDA's libraries, so these are NVIDIA's package names.
if(HAVE_CUDA)
  string(REGEX REPLACE "^([0-9]+)\\.([0-9]+).*" "\\1-\\2" OF_CUDA "${CUDAToolkit_VERSION}")
  set(CPACK_COMPONENT_CUDA_DESCRIPTION "trains one model on machines in several places - NVIDIA's GPUs
A module that hearsay and libhearsay load on machines with a GPU. It needs
NVIDIA's driver and, of CUDA ${CUDAToolkit_VERSION}, the run-time libraries.")
  set(CPACK_DEBIAN_CUDA_PACKAGE_SECTION contrib/science)
  set(CPACK_DEBIAN_CUDA_PACKAGE_DEPENDS
      "hearsay (= ${DEBIAN_VERSION}) | libhearsay2 (= ${DEBIAN_VERSION})")
  set(CPACK_DEBIAN_CUDA_PACKAGE_RECOMMENDS "cuda-cudart-${OF_CUDA}, libcublas-${OF_CUDA}")
  if(HAVE_CUDNN)
    string(REGEX MATCH "^[0-9]+" OF_CUDA "${CUDAToolkit_VERSION}")
    string(APPEND CPACK_DEBIAN_CUDA_PACKAGE_RECOMMENDS ", libcudnn9-cuda-${OF_CUDA}")
  endif()
  if(HAVE_NCCL)
    set(CPACK_DEBIAN_CUDA_PACKAGE_SUGGESTS libnccl2)
  endif()
endif()
include(CPack)
