# Links third-party libraries from their archives where the system has them. A process then starts in half the time: the
# dynamic linker has 40 libraries less to find, map and relocate.

# assay_link_statically(): every imported target found so far, and MPFR, MPC and GMP, where there is an archive
# (libX.a beside libX.so).
function(assay_link_statically)
  get_property(targets DIRECTORY PROPERTY IMPORTED_TARGETS)
  foreach(target ${targets})
    get_target_property(configurations ${target} IMPORTED_CONFIGURATIONS)
    foreach(configuration ${configurations})
      get_target_property(location ${target} IMPORTED_LOCATION_${configuration})
      assay_archive_of("${location}" archive)
      if(archive)
        set_target_properties(${target} PROPERTIES IMPORTED_LOCATION_${configuration} "${archive}"
                              IMPORTED_SONAME_${configuration} "")
      endif()
    endforeach()
  endforeach()
  assay_archive_target(protobuf-lite "${pkgcfg_lib_protobuf-lite_protobuf-lite}" PkgConfig::protobuf-lite)
  # Archives of which each needs the next: targets, so that CMake knows their order.
  assay_archive_target(gmp "${ASSAY_GMP_LIBRARY}" ASSAY_GMP_LIBRARY)
  assay_archive_target(mpfr "${pkgcfg_lib_mpfr_mpfr}" PkgConfig::mpfr archive_gmp)
  assay_archive_target(mpc "${ASSAY_MPC_LIBRARY}" ASSAY_MPC_LIBRARY archive_mpfr archive_gmp)
  set(ASSAY_GMP_LIBRARY ${ASSAY_GMP_LIBRARY} PARENT_SCOPE)
  set(ASSAY_MPC_LIBRARY ${ASSAY_MPC_LIBRARY} PARENT_SCOPE)
endfunction()

# assay_archive_target(NAME FILE USER DEPENDENCY...): the target archive_NAME for the archive beside FILE, if there is
# one; USER, an interface target or a variable, then links it.
function(assay_archive_target name file user)
  assay_archive_of("${file}" archive)
  if(NOT archive)
    return()
  endif()
  add_library(archive_${name} STATIC IMPORTED GLOBAL)
  set_target_properties(archive_${name} PROPERTIES IMPORTED_LOCATION "${archive}")
  foreach(dependency ${ARGN})
    if(TARGET ${dependency})
      set_property(TARGET archive_${name} APPEND PROPERTY INTERFACE_LINK_LIBRARIES ${dependency})
    endif()
  endforeach()
  if(TARGET ${user})
    set_target_properties(${user} PROPERTIES INTERFACE_LINK_LIBRARIES archive_${name})
  else()
    set(${user} archive_${name} PARENT_SCOPE)
  endif()
endfunction()

# assay_archive_of(FILE VARIABLE): the archive beside a shared library, else empty.
function(assay_archive_of file variable)
  set(${variable} "" PARENT_SCOPE)
  string(REGEX REPLACE "\\.so[.0-9]*$" ".a" archive "${file}")
  if(NOT archive STREQUAL file AND EXISTS "${archive}")
    set(${variable} "${archive}" PARENT_SCOPE)
  endif()
endfunction()
