# What CPack makes of a build (tools/make_packages): Debian packages of the components, and a tarball.
option(ASSAY_PACKAGE "install what packages have besides: licences, changelog, metadata of Python" OFF)
set(ASSAY_MAINTAINER "Assay maintainers <maintainers@assay.example>" CACHE STRING "the maintainer that packages name")

if(NOT ASSAY_PACKAGE)
  return()
endif()

set(packaged ${CMAKE_BINARY_DIR}/packaged)
find_program(ASSAY_GZIP gzip REQUIRED)

# assay_describe(COMPONENT PACKAGE): what Debian wants to know of every package.
function(assay_describe component package)
  configure_file(cmake/debian/changelog.in ${packaged}/${package}/changelog @ONLY)
  execute_process(COMMAND ${ASSAY_GZIP} -9nf ${packaged}/${package}/changelog COMMAND_ERROR_IS_FATAL ANY)
  install(FILES ${packaged}/${package}/changelog.gz cmake/debian/copyright DESTINATION share/doc/${package}
          COMPONENT ${component} EXCLUDE_FROM_ALL)
  if(EXISTS ${CMAKE_SOURCE_DIR}/cmake/debian/${package}.lintian-overrides)
    install(FILES cmake/debian/${package}.lintian-overrides DESTINATION share/lintian/overrides RENAME ${package}
            COMPONENT ${component} EXCLUDE_FROM_ALL)
  endif()
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${ARGV2} PARENT_SCOPE)
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} PARENT_SCOPE)
endfunction()
set(CPACK_COMPONENTS_ALL)

assay_describe(runtime assay science)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "reference evaluator for XLA programs
Assay computes what an HLO or StableHLO program means to the last bit, and
decides whether the output of another backend is rounding or a bug. This
package has the command, and its plugin for frameworks that load PJRT's.")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
# Opened by name: libzip when a .npz file is used.
set(CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS "libzip4 (>= 1.7)")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/cmake/debian/triggers)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS "libdnnl2, liblapack3")

assay_describe(development libassay-dev libdevel)
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "headers and libraries of Assay
What C++ programs are built with that evaluate XLA programs exactly, or that
register operations of their own: find_package(assay), pkg-config assay.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libabsl-dev, libfmt-dev, libgmp-dev, libmpc-dev, libmpfr-dev, \
libprotobuf-dev, libtbb-dev, libzip4 (>= 1.7), pkg-config")
# Debugging information of archives is several times their code.
install(CODE "
  file(GLOB archives \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/libassay_*.a\")
  execute_process(COMMAND ${CMAKE_STRIP} --strip-debug --strip-unneeded --enable-deterministic-archives \${archives}
                  COMMAND_ERROR_IS_FATAL ANY)"
        COMPONENT development EXCLUDE_FROM_ALL)

if(MPI_C_FOUND)
  assay_describe(mpi assay-mpi science)
  set(CPACK_COMPONENT_MPI_DESCRIPTION "runs of Assay under mpirun
The library by which the command assay evaluates programs of several devices
in several processes.")
  set(CPACK_DEBIAN_MPI_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_MPI_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/cmake/debian/triggers)
  set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "assay (= ${PROJECT_VERSION})")
endif()

if(ASSAY_PYTHON)
  assay_describe(python python3-assay python)
  set(CPACK_COMPONENT_PYTHON_DESCRIPTION "reference evaluator for XLA programs, for Python
The package assay: exact results of XLA programs on NumPy arrays, bounds for
other backends' results, and a platform of JAX.")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3 (>= 3.11), python3-numpy, libzip4 (>= 1.7)")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA
      "${CMAKE_SOURCE_DIR}/cmake/debian/postinst;${CMAKE_SOURCE_DIR}/cmake/debian/prerm")
endif()

set(CPACK_PACKAGE_NAME assay)
set(CPACK_PACKAGE_CONTACT "${ASSAY_MAINTAINER}")
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
    WORLD_READ WORLD_EXECUTE)
# The tarball has what is not for Python, and the licences.
install(FILES LICENSE docs/licences.md DESTINATION share/doc/assay COMPONENT licences)
set(CPACK_ARCHIVE_COMPONENT_INSTALL OFF)
set(CPACK_PACKAGE_FILE_NAME assay-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
include(CPack)
