# cmake --install puts the runtime where find_package(Ingot) and pkg-config find
# it.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS IngotRuntime IngotRuntimeStatic EXPORT IngotTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime)
install(DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/include/ingot
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT runtime)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/ingot COMPONENT runtime)

set(ingot_package ${CMAKE_INSTALL_LIBDIR}/cmake/Ingot)
install(EXPORT IngotTargets NAMESPACE Ingot::
  DESTINATION ${ingot_package} COMPONENT runtime)
configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/IngotConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/IngotConfig.cmake
  INSTALL_DESTINATION ${ingot_package} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(
  ${CMAKE_CURRENT_BINARY_DIR}/IngotConfigVersion.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMajorVersion)
file(RELATIVE_PATH ingot_pc_to_prefix
  /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
configure_file(${CMAKE_CURRENT_LIST_DIR}/ingot.pc.in
  ${CMAKE_CURRENT_BINARY_DIR}/ingot.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/IngotConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/IngotConfigVersion.cmake
  DESTINATION ${ingot_package} COMPONENT runtime)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ingot.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT runtime)
