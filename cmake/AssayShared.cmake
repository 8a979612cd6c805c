# Shared libraries of their own: the plugin and the Python module.

# assay_link_own(TARGET THIRD... OWN FOLDER...): Assay's own libraries by their files, each before those that it needs, and
# the third-party ones, THIRD, by names. Where programs have the latter as archives (AssayStatic.cmake), which need not be
# position-independent enough for a shared library, this one has the shared ones.
function(assay_link_own target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "OWN;THIRD")
  list(TRANSFORM arg_OWN PREPEND assay_)
  add_dependencies(${target} ${arg_OWN})
  list(TRANSFORM arg_OWN REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE files)
  list(TRANSFORM arg_THIRD PREPEND -l)
  target_link_libraries(${target} PRIVATE -Wl,--start-group ${files} -Wl,--end-group ${arg_THIRD} ${CMAKE_DL_LIBS} pthread)
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${arg_OWN})
endfunction()

# Libraries that Assay's own need, of names that the linker finds.
set(ASSAY_THIRD absl_statusor absl_status absl_cord absl_strings absl_hash absl_raw_hash_set absl_throw_delegate
    absl_cordz_info absl_int128 absl_city absl_low_level_hash fmt protobuf-lite tbb mpc mpfr gmp)
# What runs programs.
set(ASSAY_OWN devices run custom gpu engines plan engine evaluator jit hlo literal shape base)
