# What `cmake --install` gives: the libraries, their headers below include/assay, and find_package(assay).

include(CMakePackageConfigHelpers)

# One target for users: everything but the goldens' machinery.
add_library(assay_assay INTERFACE)
set_target_properties(assay_assay PROPERTIES EXPORT_NAME assay)
add_library(assay::assay ALIAS assay_assay)
target_link_libraries(assay_assay INTERFACE assay_builder)
install(TARGETS assay_assay EXPORT assayTargets)
install(DIRECTORY assay/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/assay FILES_MATCHING PATTERN *.h)

install(EXPORT assayTargets NAMESPACE assay:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/assay)
configure_package_config_file(cmake/assayConfig.cmake.in assayConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/assay)
write_basic_package_version_file(assayConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/assayConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/assayConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/assay)
