//===- Library.cpp - the shared library of a model ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/core/Library.h"

#include "runtime/core/ElfFile.h"
#include "runtime/core/Error.h"
#include "runtime/core/MappedFile.h"
#include "runtime/core/Memory.h"
#include "runtime/core/PrivateCode.h"
#include "runtime/format/ElfImage.h"
#include "runtime/format/Seal.h"

#include <atomic>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

using namespace ingot::rt;

/// Limit on the number of versions of one file that are loaded at the same
/// time.
static constexpr unsigned maxAliases = 256;

/// A loaded file with its state at load time.
struct Library::Entry {
  ~Entry() {
    free(name);
    MappedFile::unmapPage(page);
  }

  char *name; ///< for dlopen
  void *handle;
  struct stat file;
  ingot_abi_seal seal; ///< all zero if the file has none
  uint32_t references;
  /// A mapped page of the file. The mapping keeps the file's inode number in
  /// use, even if the dynamic linker loaded equal bytes from another file.
  void *page = nullptr;
  Entry *next;
};

Library::Entry *Library::entries = nullptr;

//===----------------------------------------------------------------------===//
// The list of entries
//===----------------------------------------------------------------------===//

static pthread_mutex_t entriesLock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t forkOnce = PTHREAD_ONCE_INIT;

static void lockEntries() { pthread_mutex_lock(&entriesLock); }
static void unlockEntries() { pthread_mutex_unlock(&entriesLock); }

/// Locked for reading by threads that call the dynamic linker.
static pthread_rwlock_t linkerLock = PTHREAD_RWLOCK_INITIALIZER;
/// True if the thread that forks has linkerLock. It has entriesLock, too.
static bool forkHasLinker = false;

/// Keeps other threads from forking while this thread calls the dynamic linker.
/// Otherwise, the child could find the linker's list of libraries locked.
struct LinkerGuard {
  LinkerGuard() { pthread_rwlock_rdlock(&linkerLock); }
  LinkerGuard(const LinkerGuard &) = delete;
  LinkerGuard &operator=(const LinkerGuard &) = delete;
  ~LinkerGuard() { pthread_rwlock_unlock(&linkerLock); }
};

/// Waits for the dynamic linker for a second at most, because its work may take
/// long, or fork itself.
static void beforeFork() {
  timespec end = {};
  clock_gettime(CLOCK_REALTIME, &end);
  ++end.tv_sec;
  bool hasLinker = !pthread_rwlock_timedwrlock(&linkerLock, &end);
  lockEntries();
  forkHasLinker = hasLinker;
}

static void afterForkInParent() {
  bool hasLinker = forkHasLinker;
  unlockEntries();
  if (hasLinker)
    pthread_rwlock_unlock(&linkerLock);
}

static void afterForkInChild() {
  unlockEntries();
  // Threads that have locked it are not in this process.
  linkerLock = PTHREAD_RWLOCK_INITIALIZER;
}

// entriesLock is held only while the list is read or changed, because the code
// of a loaded library may load models itself. A thread that forks takes the
// locks, so that the lists are consistent in the child.
static void registerForkHandlers() {
  pthread_atfork(beforeFork, afterForkInParent, afterForkInChild);
}

static bool isSameFile(const struct stat &a, const struct stat &b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static ingot_abi_seal sealOf(const MappedFile &file) {
  ingot_abi_seal seal;
  uint64_t offset;
  return findSeal({file.data(), file.size()}, seal, offset) ? seal
                                                            : ingot_abi_seal{};
}

//===----------------------------------------------------------------------===//
// Comparison of loaded memory and file
//===----------------------------------------------------------------------===//

#if defined(__SANITIZE_ADDRESS__)
#define INGOT_HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define INGOT_HAS_ASAN 1
#endif
#endif
#ifndef INGOT_HAS_ASAN
#define INGOT_HAS_ASAN 0
#endif

/// Compares loaded memory with a file's bytes, including the gaps between
/// variables. AddressSanitizer would report accesses to these gaps as errors.
#if INGOT_HAS_ASAN
__attribute__((no_sanitize("address"))) static bool
isSame(const void *memory, const void *bytes, uint64_t length) {
  auto *a = static_cast<const volatile char *>(memory);
  auto *b = static_cast<const volatile char *>(bytes);
  for (uint64_t i = 0; i < length; ++i)
    if (a[i] != b[i])
      return false;
  return true;
}
#else
static bool isSame(const void *memory, const void *bytes, uint64_t length) {
  return memcmp(memory, bytes, length) == 0;
}
#endif

/// Returns true if a loaded object has the file's content. Other code of the
/// process may have loaded the object. Compares the checksums of the seals.
/// Without seals, compares all read-only segments.
static bool isLoadedFrom(const Mapping &object, const MappedFile &file) {
  ElfImage image{file.data(), file.size()};
  if (object.isEmpty() || object.numSegments() != image.numSegments())
    return false;
  for (unsigned i = 0; i < image.numSegments(); ++i) {
    Elf64_Phdr segment = image.segment(i);
    if (memcmp(&object.segments()[i], &segment, sizeof(segment)))
      return false;
  }
  ingot_abi_seal seal;
  uint64_t sealOffset = 0;
  bool isSealed = findSeal(image, seal, sealOffset);
  for (unsigned i = 0; i < image.numSegments(); ++i) {
    Elf64_Phdr segment = image.segment(i);
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W))
      continue;
    uint64_t offset = segment.p_offset, length = segment.p_filesz;
    if (isSealed) {
      if (sealOffset < offset || sealOffset - offset >= length)
        continue;
      offset = sealOffset;
      length = sizeof(seal);
    }
    const void *memory = reinterpret_cast<const void *>(
        object.start() + segment.p_vaddr + (offset - segment.p_offset));
    if (!isSame(memory, file.data() + offset, length))
      return false;
  }
  return true;
}

/// Returns another spelling of the path for each `alias`, for example
/// "folder/.//file". Adds "./" for each 1 and "/" for each 0 of the alias's
/// binary digits. The dynamic linker compares spellings, so it loads the file
/// again for each alias. The caller frees the result.
static char *spell(const char *path, uint32_t alias) {
  const char *slash = strrchr(path, '/');
  const char *file = slash ? slash + 1 : path;
  constexpr size_t mostLetters = 2 * 8 * sizeof(alias);
  size_t room = strlen(path) + mostLetters + 3;
  char *name = static_cast<char *>(malloc(room));
  if (!name)
    return nullptr;
  // If the path has no slash, add "./", because dlopen would search the library
  // path.
  int used = slash ? snprintf(name, room, "%.*s", int(file - path), path)
                   : snprintf(name, room, "./");
  for (; alias; alias /= 2)
    used += snprintf(name + used, room - size_t(used), alias % 2 ? "./" : "/");
  snprintf(name + used, room - size_t(used), "%s", file);
  return name;
}

//===----------------------------------------------------------------------===//
// Library
//===----------------------------------------------------------------------===//

/// Returns the entry of a file. The list must be locked.
Library::Entry *Library::find(const MappedFile &file) {
  Entry *found = entries;
  while (found && !isSameFile(found->file, file.info()))
    found = found->next;
  return found;
}

/// Returns true if the object was loaded from another file, for example from a
/// copy.
bool Library::isOfOtherFile(void *handle, const MappedFile &file) {
  bool found = false;
  lockEntries();
  for (Entry *other = entries; other; other = other->next)
    found |= other->handle == handle && !isSameFile(other->file, file.info());
  unlockEntries();
  return found;
}

/// Returns true if the path still refers to the file, and the file is
/// unchanged.
static bool isStillAt(const char *path, const MappedFile &file) {
  struct stat now;
  return !stat(path, &now) && isSameFile(now, file.info());
}

static bool isAsItWas(const struct stat &then, const struct stat &now) {
  return then.st_size == now.st_size &&
         then.st_mtim.tv_sec == now.st_mtim.tv_sec &&
         then.st_mtim.tv_nsec == now.st_mtim.tv_nsec;
}

/// Loads the file, and sets the handle if the loaded object has the file's
/// content.
Library::Result Library::load(const char *name, const Source &source,
                              const MappedFile &file, ingot_error *error) {
  LinkerGuard guard;
  handle = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  bool isFresh = !handle;
  if (isFresh)
    handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *reason = dlerror();
    fail(error, INGOT_BAD_ARTIFACT, "cannot load '%s': %s", source.subject,
         reason ? reason : "unknown error");
    return Result::failed;
  }
  mapped = Mapping::ofLibrary(handle);
  if (isFresh ? isStillAt(source.path, file)
              : isLoadedFrom(mapped, file) && !isOfOtherFile(handle, file)) {
    if (isFresh && !source.isPrivate &&
        !(source.flags & INGOT_MODEL_MAP_CODE))
      makePrivate(mapped, sealOf(file));
    return Result::loaded;
  }
  dlclose(handle);
  handle = nullptr;
  return Result::otherFile;
}

void Library::unload() {
  LinkerGuard guard;
  dlclose(handle);
  handle = nullptr;
}

/// Adds an entry for the loaded object and takes ownership of `name`.
Library::Result Library::enter(char *name, const Source &source,
                               MappedFile &file, ingot_error *error) {
  auto *made = create<Entry>();
  lockEntries();
  entry = find(file);
  if (!entry && made) {
    made->name = name;
    made->handle = handle;
    made->file = file.info();
    made->seal = sealOf(file);
    made->page = file.keepPage();
    made->next = entries;
    entries = entry = made;
    name = nullptr;
    made = nullptr;
  }
  if (entry)
    ++entry->references;
  unlockEntries();
  destroy(made);
  free(name);
  if (entry)
    return Result::loaded;
  unload();
  fail(error, INGOT_OUT_OF_MEMORY, "no memory to load '%s'", source.subject);
  return Result::failed;
}

/// Drops a reference to the entry.
void Library::leave() {
  lockEntries();
  Entry *last = nullptr;
  if (--entry->references == 0) {
    Entry **link = &entries;
    while (*link != entry)
      link = &(*link)->next;
    *link = entry->next;
    last = entry;
  }
  unlockEntries();
  destroy(last);
  entry = nullptr;
}

Library::Result Library::openChecked(const Source &source, MappedFile &file,
                                     ingot_error *error) {
  lockEntries();
  entry = find(file);
  if (entry)
    ++entry->references;
  unlockEntries();
  if (entry) {
    ingot_abi_seal seal = sealOf(file);
    Result result = Result::failed;
    if (isAsItWas(entry->file, file.info()) &&
        !memcmp(&entry->seal, &seal, sizeof(seal)))
      result = load(entry->name, source, file, error);
    else
      fail(error, INGOT_BAD_ARTIFACT,
           "'%s' was overwritten while a model is loaded from it, which "
           "changes its weights; release that model, and give a new file its "
           "name by renaming it",
           source.subject);
    if (result != Result::loaded)
      leave();
    return result;
  }
  // Avoids $ORIGIN and similar tokens in the path, because the dynamic linker
  // expands them.
  char descriptorPath[32];
  int descriptor = -1;
  const char *path = source.path, *spelled = path;
  if (strchr(path, '$')) {
    descriptor = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    snprintf(descriptorPath, sizeof(descriptorPath), "/proc/self/fd/%d",
             descriptor);
    spelled = descriptorPath;
  }
  // Each loaded version of a file has its own spelling of the path.
  Result result = Result::otherFile;
  for (unsigned i = 0; result == Result::otherFile && i < maxAliases; ++i) {
    char *name = spell(spelled, source.firstAlias + i);
    if (!name) {
      fail(error, INGOT_OUT_OF_MEMORY, "no memory to load '%s'",
           source.subject);
      result = Result::failed;
      break;
    }
    result = load(name, source, file, error);
    if (result == Result::loaded) {
      result = enter(name, source, file, error);
      break;
    }
    free(name);
    if (!isStillAt(path, file))
      break;
  }
  if (descriptor >= 0)
    ::close(descriptor);
  return result;
}

ingot_status Library::open(const Source &source, ingot_error *error) {
  pthread_once(&forkOnce, registerForkHandlers);
  // Tries again if another file takes the name in between.
  constexpr int maxAttempts = 8;
  for (int attempt = 0; attempt < maxAttempts; ++attempt) {
    MappedFile file;
    if (ingot_status status = file.open(source.path, "model", error))
      return status;
    if (ingot_status status =
            checkElfFile(file, source.subject, source.flags, error))
      return status;
    // Receives the status, which is needed here even if the caller wants no
    // message.
    ingot_error reason = INGOT_ERROR_INIT;
    Result result = openChecked(source, file, &reason);
    if (result == Result::loaded)
      return INGOT_OK;
    if (result == Result::failed)
      return fail(error, reason.status, "%s", reason.message);
  }
  return fail(error, INGOT_BAD_ARTIFACT,
              "cannot load '%s': other files keep taking its name",
              source.subject);
}

ingot_status Library::open(const char *path, uint32_t flags,
                           ingot_error *error) {
  return open({path, path, flags, /*firstAlias=*/0, /*isPrivate=*/false},
              error);
}

/// Creates a file that only this process can access. Returns its descriptor, or
/// -1.
static int createMemoryFile() {
#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif
  // Some systems run code only with MFD_EXEC. Older systems do not know this
  // flag.
  int file = memfd_create("ingot-model", MFD_CLOEXEC | MFD_EXEC);
  return file >= 0 || errno != EINVAL
             ? file
             : memfd_create("ingot-model", MFD_CLOEXEC);
}

static bool writeAll(int file, const void *bytes, uint64_t size) {
  auto *from = static_cast<const char *>(bytes);
  constexpr uint64_t most = 1 << 30;
  while (size) {
    ssize_t written = write(file, from, size < most ? size : most);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    from += written;
    size -= uint64_t(written);
  }
  return true;
}

ingot_status Library::openMemory(const void *bytes, uint64_t size,
                                 const char *subject, uint32_t flags,
                                 ingot_error *error) {
  // Check the bytes before they are copied.
  if (ingot_status status =
          checkElfImage(static_cast<const unsigned char *>(bytes), size,
                        subject, error))
    return status;
  int file = createMemoryFile();
  if (file < 0)
    return fail(error, INGOT_UNSUPPORTED_DEVICE,
                "cannot load '%s': the system provides no file in memory: %s",
                subject, strerror(errno));
  char path[32];
  snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
  static std::atomic<uint32_t> numOpened{0};
  ingot_status status = INGOT_OK;
  if (!writeAll(file, bytes, size))
    status = fail(error, INGOT_OUT_OF_MEMORY, "cannot load '%s': %s", subject,
                  strerror(errno));
  else if (access(path, R_OK))
    status = fail(error, INGOT_UNSUPPORTED_DEVICE,
                  "cannot load '%s': loading from memory needs /proc, but "
                  "'%s' cannot be opened: %s",
                  subject, path, strerror(errno));
  else
    status = open({path, subject, flags, numOpened++, /*isPrivate=*/true},
                  error);
  ::close(file);
  return status;
}

void Library::close() {
  if (!handle)
    return;
  // Drop the reference before the object is unloaded. If a thread loads the
  // file meanwhile, it treats the object as loaded by other code.
  leave();
  unload();
}

void *Library::symbol(const char *name) const { return dlsym(handle, name); }
