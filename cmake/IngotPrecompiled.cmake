# Most of a file's compilation is headers, MLIR's and those that are generated
# from our dialects: they are parsed, and their templates instantiated, once.
# Every file still includes what it uses, and builds without.
option(INGOT_PRECOMPILED_HEADERS "Parse common headers once for all files" ON)
# Without the path of the headers' source, which ccache would hash.
set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -Xclang -include-pch -Xclang <PCH_FILE>)

set(INGOT_MLIR_HEADERS
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

# ingot_precompile(NAME HEADERS HEADER... [FROM FILE...]): targets that follow in
# this directory and below parse HEADERS once. FROM are our own files that they
# come from, whose change makes ccache forget.
function(ingot_precompile name)
  if(NOT INGOT_PRECOMPILED_HEADERS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "HEADERS;FROM" ${ARGN})
  file(WRITE ${CMAKE_BINARY_DIR}/${name}.cpp "")
  add_library(${name} OBJECT ${CMAKE_BINARY_DIR}/${name}.cpp)
  target_compile_options(${name} PRIVATE -fno-exceptions -Wno-deprecated-declarations)
  target_precompile_headers(${name} PRIVATE ${ARG_HEADERS})

  # ccache takes this file for the content of the precompiled headers, whose bytes
  # hold the build's path: so trees of the same sources share what is cached.
  set(sum ${CMAKE_BINARY_DIR}/CMakeFiles/${name}.dir/cmake_pch.hxx.pch.sum)
  string(SHA256 configuration
    "${ARG_HEADERS} ${LLVM_PACKAGE_VERSION} ${CMAKE_BUILD_TYPE} ${INGOT_SANITIZE}")
  add_custom_command(OUTPUT ${sum}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${sum} -DSTART=${configuration} "-DFILES=${ARG_FROM}"
      -P ${CMAKE_SOURCE_DIR}/cmake/SumFiles.cmake
    DEPENDS ${ARG_FROM} ${CMAKE_SOURCE_DIR}/cmake/SumFiles.cmake
    VERBATIM)
  add_custom_target(${name}Sum DEPENDS ${sum})
  get_property(generated GLOBAL PROPERTY INGOT_TABLEGEN_TARGETS)
  add_dependencies(${name} ${name}Sum ${generated})
  set(INGOT_PRECOMPILED ${name} PARENT_SCOPE)
endfunction()

# ingot_precompile_dialects(): like ingot_precompile, for all that is built on our
# dialects: their headers, too, are parsed once.
macro(ingot_precompile_dialects)
  file(GLOB_RECURSE ingot_dialect_sources CONFIGURE_DEPENDS
    ${CMAKE_SOURCE_DIR}/dialects/*.h ${CMAKE_SOURCE_DIR}/dialects/*.inc
    ${CMAKE_SOURCE_DIR}/dialects/*.td ${CMAKE_SOURCE_DIR}/runtime/include/*)
  # No header below includes these dialects.
  list(FILTER ingot_dialect_sources EXCLUDE REGEX "/dialects/(cuda|dnnl)/")
  ingot_precompile(IngotPrecompiledDialects
    HEADERS ${INGOT_MLIR_HEADERS}
      <mlir/Dialect/Affine/IR/AffineOps.h>
      <dialects/cpu/CpuDialect.h>
      <dialects/ingot/IngotDialect.h>
      <dialects/nn/Constants.h>
      <dialects/nn/NNDialect.h>
      <dialects/onnx/OnnxDialect.h>
    FROM ${ingot_dialect_sources})
endmacro()

# ingot_without_exceptions(TARGET): compiles TARGET as LLVM itself is.
function(ingot_without_exceptions target)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>)
  if(INGOT_PRECOMPILED_HEADERS)
    # Not -fPIE, which CMake gives to executables: all that share the headers agree.
    # With them clang forgets where libstdc++ silences warnings of its own.
    target_compile_options(${target} PRIVATE -fPIC -Wno-deprecated-declarations)
    target_precompile_headers(${target} REUSE_FROM ${INGOT_PRECOMPILED})
  endif()
endfunction()
