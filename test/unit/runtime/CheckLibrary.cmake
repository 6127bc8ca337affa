# libingot.so exports exactly the symbols in exports.txt, is small and needs
# libc alone.
execute_process(COMMAND ${NM} -D --defined-only ${LIBRARY}
  OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[0-9a-f]+ T [^@\n]+" lines "${symbols}")
string(REGEX REPLACE "[0-9a-f]+ T " "" lines "${lines}")
list(SORT lines)
file(STRINGS ${GOLDEN} golden)
if(NOT lines STREQUAL golden)
  string(REPLACE ";" "\n" lines "${lines}")
  message(FATAL_ERROR "exports differ from ${GOLDEN}; exported are:\n${lines}")
endif()

execute_process(COMMAND ${STRIP} -o ${LIBRARY}.stripped ${LIBRARY}
  COMMAND_ERROR_IS_FATAL ANY)
file(SIZE ${LIBRARY}.stripped size)
file(REMOVE ${LIBRARY}.stripped)
if(size GREATER_EQUAL 300000)
  message(FATAL_ERROR "stripped library has ${size} bytes")
endif()

execute_process(COMMAND ${READELF} -d ${LIBRARY}
  OUTPUT_VARIABLE dynamic COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "Shared library: \\[[^]]+" needed "${dynamic}")
foreach(library IN LISTS needed)
  if(NOT library MATCHES "\\[(libc|libdl|libpthread|ld-linux-x86-64)\\.so")
    message(FATAL_ERROR "unexpected dependency: ${library}]")
  endif()
endforeach()
message(STATUS "${size} bytes, needs ${needed}")
