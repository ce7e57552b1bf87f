# Compile options and the few target helpers that the project uses.

include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
include_directories(${CMAKE_SOURCE_DIR}/include ${CMAKE_BINARY_DIR}/include)
add_compile_options(-Wall -Wextra -Werror -Wno-unused-parameter -fno-exceptions
                    -fdiagnostics-color)
if(MOEQ_SANITIZE)
  add_compile_options(-fsanitize=${MOEQ_SANITIZE} -fno-omit-frame-pointer -fno-sanitize=vptr)
  add_link_options(-fsanitize=${MOEQ_SANITIZE})
endif()
if(EXISTS /usr/bin/ld.lld-22)
  add_link_options(-fuse-ld=lld-22)
endif()
separate_arguments(LLVM_DEFINITIONS_LIST NATIVE_COMMAND "${LLVM_DEFINITIONS}")
add_definitions(${LLVM_DEFINITIONS_LIST})

# One precompiled header for the whole project: MLIR's headers cost ten seconds a
# translation unit without it.
file(WRITE ${CMAKE_BINARY_DIR}/MoeqPch.cpp "")
add_library(MoeqPch STATIC ${CMAKE_BINARY_DIR}/MoeqPch.cpp)
target_precompile_headers(MoeqPch PRIVATE ${CMAKE_SOURCE_DIR}/cmake/Pch.h)

# Every generated header, so that no source compiles before the TableGen it includes.
add_custom_target(MoeqGenerated)

# moeq_tablegen(FILE.td OUTPUT.inc OPTIONS...): runs mlir-tblgen in the current folder.
macro(moeq_tablegen td output)
  set(LLVM_TARGET_DEFINITIONS ${td})
  mlir_tablegen(${output} ${ARGN} -I${CMAKE_SOURCE_DIR}/include)
endmacro()

# moeq_generated(NAME): closes a group of moeq_tablegen calls.
macro(moeq_generated name)
  add_public_tablegen_target(${name})
  add_dependencies(MoeqGenerated ${name})
endmacro()

# moeq_add_library(NAME SOURCES... [LINK_LIBS OTHER_MOEQ_LIBS...])
function(moeq_add_library name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_precompile_headers(${name} REUSE_FROM MoeqPch)
  add_dependencies(${name} MoeqGenerated)
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS} MLIR LLVM)
  set_property(GLOBAL APPEND PROPERTY MOEQ_LIBS ${name})
endfunction()

# moeq_add_tool(NAME SOURCES... [LINK_LIBS ...])
function(moeq_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_compile_options(${name} PRIVATE -fPIC) # as the precompiled header, not -fPIE
  target_precompile_headers(${name} REUSE_FROM MoeqPch)
  add_dependencies(${name} MoeqGenerated)
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} MLIR LLVM)
  set_property(GLOBAL APPEND PROPERTY MOEQ_TOOLS ${name})
endfunction()

# moeq_add_unittest(NAME SOURCES... [LINK_LIBS ...]): a GoogleTest binary under unittests/.
function(moeq_add_unittest name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_compile_options(${name} PRIVATE -fPIC) # as the precompiled header, not -fPIE
  target_precompile_headers(${name} REUSE_FROM MoeqPch)
  add_dependencies(${name} MoeqGenerated)
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} GTest::gtest_main MLIR LLVM)
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/unittests)
endfunction()
