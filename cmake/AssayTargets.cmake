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
  # g++ has it by the standard; clang has it by default since version 19.
  target_compile_options(assay_options INTERFACE -fsized-deallocation)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 sees out-of-bounds copies in inlined std::string concatenation (GCC bug 105329 and its kin), and reads of
  # the unused room of small vectors inside of variants that are moved.
  target_compile_options(assay_options INTERFACE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow
                         -Wno-stringop-overread -Wno-maybe-uninitialized)
endif()
target_compile_definitions(assay_options INTERFACE _GLIBCXX_ASSERTIONS)

# Most of the time of a build goes into reading the same headers again for every file. With this option, files of a
# folder are compiled several at once, in half the time; without it, missing includes are found, and a change of a file
# costs that file alone.
option(ASSAY_BATCHES "compile files of a folder in batches: for builds from nothing" OFF)
# Bytes of source in a batch. Larger ones cost no less in all, and let more than two processors wait for the last.
set(ASSAY_BATCH_BYTES 64000)

# assay_compile_in_batches(TARGET FILE...): of files of one folder each, in order. A file with options of its own is left
# alone, by CMake itself; one with macros of its own, which say for example for which instruction set kernels are compiled,
# here.
function(assay_compile_in_batches target)
  foreach(file ${ARGN})
    file(STRINGS ${file} macros REGEX "^#define ASSAY_" LIMIT_COUNT 1)
    if(macros)
      set_source_files_properties(${file} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
      continue()
    endif()
    file(RELATIVE_PATH path ${CMAKE_SOURCE_DIR} ${file})
    get_filename_component(folder ${path} DIRECTORY)
    string(MAKE_C_IDENTIFIER ${folder} folder)
    file(SIZE ${file} size)
    if(NOT DEFINED bytes_${folder})
      set(batch_${folder} 1)
      set(bytes_${folder} 0)
    endif()
    math(EXPR bytes_${folder} "${bytes_${folder}} + ${size}")
    if(bytes_${folder} GREATER ASSAY_BATCH_BYTES)
      math(EXPR batch_${folder} "${batch_${folder}} + 1")
      set(bytes_${folder} ${size})
    endif()
    set_source_files_properties(${file} PROPERTIES UNITY_GROUP ${folder}_${batch_${folder}})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # g++ takes a type of an unnamed namespace for one that other files see as well, where it isn't in the main file.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()

# assay_library(NAME [FOLDER folder] [FLAT] DEPENDENCY...): every .cc below the folder, which is NAME where none is said, as the
# static library assay_NAME; with FLAT those in the folder itself. A file is in the first library that takes it.
function(assay_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "FLAT" "FOLDER" "")
  set(folder ${name})
  if(arg_FOLDER)
    set(folder ${arg_FOLDER})
  endif()
  set(glob GLOB_RECURSE)
  if(arg_FLAT)
    set(glob GLOB)
  endif()
  file(${glob} sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.cc)
  file(${glob} headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.h ${CMAKE_SOURCE_DIR}/${folder}/*.def)
  get_property(taken GLOBAL PROPERTY assay_taken_sources)
  list(REMOVE_ITEM sources ${taken})
  set_property(GLOBAL APPEND PROPERTY assay_taken_sources ${sources})
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
  install(TARGETS assay_${name} EXPORT assayTargets COMPONENT development)
  # A folder without sources yet is no library.
  set(dependencies ${arg_UNPARSED_ARGUMENTS})
  foreach(dependency ${dependencies})
    if(dependency MATCHES "^assay_" AND NOT TARGET ${dependency})
      list(REMOVE_ITEM dependencies ${dependency})
    endif()
  endforeach()
  target_link_libraries(assay_${name} PUBLIC ${dependencies} PRIVATE $<BUILD_INTERFACE:assay_options>)
  if(ASSAY_BATCHES)
    assay_compile_in_batches(assay_${name} ${sources})
  endif()
  assay_precompile_headers(assay_${name})
endfunction()

# assay_precompile_headers(TARGET): the headers that nearly every file includes, compiled once for all targets, with the
# first one. A compiler cache shares objects between checkouts, but not if they depend on a precompiled header.
function(assay_precompile_headers target)
  if(CMAKE_CXX_COMPILER_LAUNCHER)
    return()
  endif()
  if(target STREQUAL assay_base)
    target_precompile_headers(assay_base PRIVATE
      <algorithm> <cstdint> <memory> <span> <string> <string_view> <vector> <absl/status/statusor.h> <fmt/format.h>)
  else()
    target_precompile_headers(${target} REUSE_FROM assay_base)
  endif()
endfunction()
