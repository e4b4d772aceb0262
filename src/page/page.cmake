# Joins page.html and its parts into one file, which page.c embeds into the program. As a script
# (-D OUT, DYGRAPHS, HERE) it writes the file OUT; the build includes it for the rule that runs it.
if(CMAKE_SCRIPT_MODE_FILE)
  file(READ ${HERE}/page.html PAGE)
  file(READ ${HERE}/page.css PAGE_CSS)
  file(READ ${HERE}/page.js PAGE_JS)
  file(READ ${DYGRAPHS}/dygraph.min.css DYGRAPH_CSS)
  file(READ ${DYGRAPHS}/dygraph.min.js DYGRAPH_JS)
  foreach(PART PAGE_CSS PAGE_JS DYGRAPH_CSS DYGRAPH_JS)
    string(REGEX REPLACE "(//|/\\*)# sourceMappingURL=[^\n*]*(\\*/)?" "" TEXT "${${PART}}")
    string(REPLACE "@${PART}@" "${TEXT}" PAGE "${PAGE}")
  endforeach()
  file(WRITE ${OUT} "${PAGE}")
  return()
endif()

find_path(DYGRAPHS dygraph.min.js PATHS /usr/share/javascript/dygraphs /usr/share/nodejs/dygraphs/dist
          DOC "Folder of dygraphs 2" NO_DEFAULT_PATH)
if(NOT DYGRAPHS)
  message(FATAL_ERROR "dygraphs, which draws the charts of the page, was not found: install "
                      "libjs-dygraphs, or set DYGRAPHS to the folder of dygraph.min.js")
endif()
set(PAGE_FOLDER ${CMAKE_CURRENT_SOURCE_DIR}/src/page)
set(PAGE_FILE ${CMAKE_CURRENT_BINARY_DIR}/page.html)
set(PAGE_PARTS ${PAGE_FOLDER}/page.html ${PAGE_FOLDER}/page.css ${PAGE_FOLDER}/page.js
               ${DYGRAPHS}/dygraph.min.css ${DYGRAPHS}/dygraph.min.js)
add_custom_command(OUTPUT ${PAGE_FILE}
                   COMMAND ${CMAKE_COMMAND} -D OUT=${PAGE_FILE} -D DYGRAPHS=${DYGRAPHS}
                           -D HERE=${PAGE_FOLDER} -P ${PAGE_FOLDER}/page.cmake
                   DEPENDS ${PAGE_PARTS} ${PAGE_FOLDER}/page.cmake VERBATIM)
set_source_files_properties(${PAGE_FOLDER}/page.c PROPERTIES OBJECT_DEPENDS ${PAGE_FILE}
                            COMPILE_DEFINITIONS "PAGE_FILE=\"${PAGE_FILE}\"")
target_sources(page PRIVATE ${PAGE_FILE})
set_source_files_properties(${PAGE_FILE} PROPERTIES HEADER_FILE_ONLY ON)
