# Kernels of gpu/kernels, compiled as C++ for the emulation: each access to memory calls a function of emulator/device.
if(ASSAY_TSAN)
  # That sanitizer's own library has functions of these names.
  return()
endif()
set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/emulator/device/arithmetic.cc PROPERTIES COMPILE_OPTIONS -frounding-math)
file(GLOB kernel_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/gpu/kernels/*.cu ${CMAKE_SOURCE_DIR}/gpu/kernels/*/*.cu
     ${CMAKE_CURRENT_SOURCE_DIR}/emulator/device/*.cu)
set(emulated_kernels)
foreach(source ${kernel_sources})
  get_filename_component(module ${source} NAME_WE)
  file(RELATIVE_PATH source ${CMAKE_SOURCE_DIR} ${source})
  set(emulated ${CMAKE_CURRENT_BINARY_DIR}/kernels/${module}.cc)
  file(CONFIGURE OUTPUT ${emulated} CONTENT "#include \"@source@\"\n" @ONLY)
  set_source_files_properties(${emulated} PROPERTIES COMPILE_DEFINITIONS ASSAY_KERNEL_MODULE="${module}")
  list(APPEND emulated_kernels ${emulated})
endforeach()
add_library(assay_emulated_kernels OBJECT ${emulated_kernels})
target_include_directories(assay_emulated_kernels PRIVATE ${CMAKE_SOURCE_DIR})
target_link_libraries(assay_emulated_kernels PRIVATE assay_options)
# A kernel that does something wrong ends by an exception, for which functions of kernels may do nothing when they end.
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  set(plain_functions "SHELL:-mllvm -tsan-instrument-func-entry-exit=0" -Wno-pass-failed)
else()
  set(plain_functions "SHELL:--param tsan-instrument-func-entry-exit=0")
endif()
target_compile_options(assay_emulated_kernels PRIVATE -O1 -fno-sanitize=address,undefined -fsanitize=thread
  ${plain_functions} -Wno-unknown-pragmas
  "SHELL:-include ${CMAKE_SOURCE_DIR}/tests/gpu/emulator/device/device.h")
