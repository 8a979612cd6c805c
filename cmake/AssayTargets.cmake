# Compiler settings that every target of the project shares, and the function that makes a folder a library.

add_library(assay_options INTERFACE)
target_compile_options(assay_options INTERFACE
  -Wall -Wextra -Wshadow=local -Wno-missing-field-initializers $<$<NOT:$<BOOL:${ASSAY_LENIENT}>>:-Werror>
  # a * b + c must stay two roundings wherever the target has FMA (numerics).
  -ffp-contract=off
  -fstack-protector-strong)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # g++ knows -Wshadow=local; clang's nearest is -Wshadow, which also warns of constructor parameters.
  target_compile_options(assay_options INTERFACE -Wno-unknown-warning-option)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 sees out-of-bounds copies in inlined std::string concatenation (GCC bug 105329 and its kin), and reads of
  # the unused room of small vectors inside of variants that are moved.
  target_compile_options(assay_options INTERFACE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow
                         -Wno-stringop-overread -Wno-maybe-uninitialized)
endif()
target_compile_definitions(assay_options INTERFACE _GLIBCXX_ASSERTIONS)

# assay_library(NAME DEPENDENCY...): every .cc below the folder NAME as the static library assay_NAME.
function(assay_library name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${name}/*.cc)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${name}/*.h ${CMAKE_SOURCE_DIR}/${name}/*.def)
  if(NOT sources)
    return()
  endif()
  add_library(assay_${name} STATIC ${sources} ${headers})
  add_library(assay::${name} ALIAS assay_${name})
  # Installed, <assay/shape/shape.h> and the "shape/shape.h" of our own headers are the same file.
  target_include_directories(assay_${name} PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/assay>)
  target_compile_features(assay_${name} PUBLIC cxx_std_20)
  set_target_properties(assay_${name} PROPERTIES EXPORT_NAME ${name})
  install(TARGETS assay_${name} EXPORT assayTargets)
  install(DIRECTORY ${name}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/assay/${name}
          FILES_MATCHING PATTERN *.h PATTERN *.def PATTERN internal.h EXCLUDE)
  # A folder without sources yet is no library.
  foreach(dependency ${ARGN})
    if(dependency MATCHES "^assay_" AND NOT TARGET ${dependency})
      list(REMOVE_ITEM ARGN ${dependency})
    endif()
  endforeach()
  target_link_libraries(assay_${name} PUBLIC ${ARGN} PRIVATE $<BUILD_INTERFACE:assay_options>)
  # A compiler cache shares objects between checkouts, but not if they depend on a precompiled header.
  if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
    target_precompile_headers(assay_${name} PRIVATE
      <algorithm> <cstdint> <memory> <span> <string> <string_view> <vector> <absl/status/statusor.h> <fmt/format.h>)
  endif()
endfunction()
