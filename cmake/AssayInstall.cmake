# What `cmake --install` gives: the libraries, the headers that programs may include, below include/assay, and
# find_package(assay).

include(CMakePackageConfigHelpers)

# One target for users: everything but the goldens' machinery.
add_library(assay_assay INTERFACE)
set_target_properties(assay_assay PROPERTIES EXPORT_NAME assay)
add_library(assay::assay ALIAS assay_assay)
target_link_libraries(assay_assay INTERFACE assay_builder assay_devices)
install(TARGETS assay_assay EXPORT assayTargets COMPONENT development)

# assay_install_with_includes(HEADER...): the headers, named from the root, and all of ours that they include.
function(assay_install_with_includes)
  set(open ${ARGN})
  set(done)
  while(open)
    list(POP_FRONT open header)
    if(header IN_LIST done)
      continue()
    endif()
    list(APPEND done ${header})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
    file(STRINGS ${header} includes REGEX "^ *# *include \"")
    foreach(include ${includes})
      string(REGEX REPLACE ".*include \"([^\"]*)\".*" "\\1" included "${include}")
      if(EXISTS ${CMAKE_SOURCE_DIR}/${included})
        list(APPEND open ${included})
      endif()
    endforeach()
  endwhile()
  foreach(header ${done})
    get_filename_component(folder ${header} DIRECTORY)
    # <assay/assay.h> is assay/assay.h; <assay/shape/shape.h> is shape/shape.h.
    string(REGEX REPLACE "^assay$" "" folder "${folder}")
    install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/assay/${folder} COMPONENT development)
  endforeach()
endfunction()
assay_install_with_includes(assay/assay.h assay/testing.h assay/op_library.h custom/api/shape_test.h)

# For libraries of operations, which link nothing of Assay: where the headers are.
add_library(assay_ops INTERFACE)
set_target_properties(assay_ops PROPERTIES EXPORT_NAME ops)
target_compile_features(assay_ops INTERFACE cxx_std_20)
target_include_directories(assay_ops INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
                                               $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/assay>)
install(TARGETS assay_ops EXPORT assayTargets COMPONENT development)
# The same for who builds without CMake: assay-config --cflags.
configure_file(cmake/assay-config.in assay-config @ONLY)
install(PROGRAMS ${CMAKE_CURRENT_BINARY_DIR}/assay-config DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT development)

# And for who links the libraries without CMake: pkg-config --cflags --libs assay.
set(own_libraries ${ASSAY_OWN})
list(PREPEND own_libraries builder)
list(TRANSFORM own_libraries PREPEND -lassay_)
list(JOIN own_libraries " " own_libraries)
file(RELATIVE_PATH up_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/assay.pc.in assay.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/assay.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

install(EXPORT assayTargets NAMESPACE assay:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/assay COMPONENT development)
configure_package_config_file(cmake/assayConfig.cmake.in assayConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/assay)
write_basic_package_version_file(assayConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/assayConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/assayConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/assay COMPONENT development)
