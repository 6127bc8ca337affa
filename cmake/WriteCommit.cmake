# Writes the commit of SOURCE into the header OUTPUT, unless it is there already.
# A source tree without git has the commit "".
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(commit "")
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define INGOT_COMMIT \"@commit@\"\n" @ONLY)
