# Writes the hash of START and of what FILES hold to OUTPUT.
set(text "${START}")
foreach(file ${FILES})
  file(SHA256 ${file} sum)
  string(APPEND text " ${sum}")
endforeach()
string(SHA256 sum "${text}")
file(WRITE ${OUTPUT} "${sum}")
