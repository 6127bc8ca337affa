# Finds MLIR, LLVM and lld, and gives helpers to build on their shared libraries.
find_package(MLIR REQUIRED CONFIG HINTS /usr/lib/llvm-22)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "Ingot is built on MLIR 22, but found ${LLVM_VERSION}")
endif()
find_package(LLD REQUIRED CONFIG HINTS /usr/lib/llvm-22)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
separate_arguments(INGOT_LLVM_DEFINITIONS NATIVE_COMMAND ${LLVM_DEFINITIONS})
add_definitions(${INGOT_LLVM_DEFINITIONS})

# Most of a file's compilation is MLIR's headers: they are parsed, and their
# templates instantiated, once. What stands here are only headers of MLIR and the
# standard library; every file still includes what it uses, and builds without.
option(INGOT_PRECOMPILED_HEADERS "Parse MLIR's headers once for all files" ON)
if(INGOT_PRECOMPILED_HEADERS)
  set(INGOT_PRECOMPILED
    <mlir/Dialect/Arith/IR/Arith.h>
    <mlir/Dialect/Bufferization/IR/Bufferization.h>
    <mlir/Dialect/Func/IR/FuncOps.h>
    <mlir/Dialect/LLVMIR/LLVMDialect.h>
    <mlir/Dialect/Linalg/IR/Linalg.h>
    <mlir/Dialect/Math/IR/Math.h>
    <mlir/Dialect/MemRef/IR/MemRef.h>
    <mlir/Dialect/SCF/IR/SCF.h>
    <mlir/Dialect/Tensor/IR/Tensor.h>
    <mlir/Dialect/Vector/IR/VectorOps.h>
    <mlir/Pass/Pass.h>
    <mlir/Transforms/DialectConversion.h>
    <mlir/Transforms/GreedyPatternRewriteDriver.h>
    <mlir/Transforms/WalkPatternRewriteDriver.h>)
  file(WRITE ${CMAKE_BINARY_DIR}/Precompiled.cpp "")
  add_library(IngotPrecompiled OBJECT ${CMAKE_BINARY_DIR}/Precompiled.cpp)
  target_compile_options(IngotPrecompiled PRIVATE -fno-exceptions -Wno-deprecated-declarations)
  target_precompile_headers(IngotPrecompiled PRIVATE ${INGOT_PRECOMPILED})
  # Without the path of the headers' source, which ccache would hash.
  set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -Xclang -include-pch -Xclang <PCH_FILE>)
  # ccache takes this file for the content of the precompiled headers, whose bytes
  # hold the build's path: so trees of the same sources share what is cached.
  string(SHA256 INGOT_PRECOMPILED_KEY
    "${INGOT_PRECOMPILED} ${LLVM_PACKAGE_VERSION} ${CMAKE_BUILD_TYPE} ${INGOT_SANITIZE}")
  file(CONFIGURE @ONLY CONTENT "@INGOT_PRECOMPILED_KEY@"
    OUTPUT ${CMAKE_BINARY_DIR}/CMakeFiles/IngotPrecompiled.dir/cmake_pch.hxx.pch.sum)
endif()

# ingot_without_exceptions(TARGET): compiles TARGET as LLVM itself is.
function(ingot_without_exceptions target)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>)
  if(INGOT_PRECOMPILED_HEADERS)
    # Not -fPIE, which CMake gives to executables: all that share the headers agree.
    # With them clang forgets where libstdc++ silences warnings of its own.
    target_compile_options(${target} PRIVATE -fPIC -Wno-deprecated-declarations)
    target_precompile_headers(${target} REUSE_FROM IngotPrecompiled)
  endif()
endfunction()

# ingot_tablegen(TARGET SOURCE.td [OUTPUT GENERATOR-ARGS...]...): each OUTPUT ends
# in .inc and is followed by mlir-tblgen's arguments.
macro(ingot_tablegen target source)
  set(LLVM_TARGET_DEFINITIONS ${source})
  set(ingot_output "")
  set(ingot_args "")
  foreach(arg ${ARGN})
    if(arg MATCHES "\\.inc$")
      if(ingot_output)
        mlir_tablegen(${ingot_output} ${ingot_args} EXTRA_INCLUDES ${CMAKE_SOURCE_DIR})
      endif()
      set(ingot_output ${arg})
      set(ingot_args "")
    else()
      list(APPEND ingot_args ${arg})
    endif()
  endforeach()
  mlir_tablegen(${ingot_output} ${ingot_args} EXTRA_INCLUDES ${CMAKE_SOURCE_DIR})
  add_public_tablegen_target(${target})
  set_property(GLOBAL APPEND PROPERTY INGOT_TABLEGEN_TARGETS ${target})
endmacro()

# ingot_add_library(NAME SOURCES... [LINK LIBS...] [EXCEPTIONS]): a static library
# on top of libMLIR.so and libLLVM.so.
function(ingot_add_library name)
  cmake_parse_arguments(ARG "EXCEPTIONS" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  get_property(generated GLOBAL PROPERTY INGOT_TABLEGEN_TARGETS)
  if(generated)
    add_dependencies(${name} ${generated})
  endif()
  if(NOT ARG_EXCEPTIONS)
    ingot_without_exceptions(${name})
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK} MLIR LLVM)
endfunction()
