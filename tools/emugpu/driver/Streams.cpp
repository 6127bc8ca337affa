//===- Streams.cpp - memory, copies, streams and events -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/emugpu/driver/Calls.h"

#include <algorithm>
#include <cstring>

using namespace emugpu;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

cuda::Result cuMemGetInfo_v2(size_t *left, size_t *total) {
  INGOT_EMUGPU_ENTER(cuMemGetInfo_v2);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  *total = driver.memory->total();
  *left = *total - driver.memory->used();
  return cuda::success;
}

cuda::Result cuMemAlloc_v2(cuda::DevicePointer *address, size_t bytes) {
  INGOT_EMUGPU_ENTER(cuMemAlloc_v2);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  if (!bytes)
    return cuda::invalidValue;
  if (cuda::Result refused = driver.disturbCaptures())
    return refused;
  const uint64_t made = driver.memory->allocate(bytes);
  if (!made)
    return cuda::outOfMemory;
  if (cuda::Device device = currentContexts().back()->device)
    driver.foreign[made] = device;
  *address = made;
  return cuda::success;
}

cuda::Result cuMemFree_v2(cuda::DevicePointer address) {
  INGOT_EMUGPU_ENTER(cuMemFree_v2);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  if (!address)
    return cuda::success;
  driver.finishAll();
  if (!driver.memory->release(address))
    return cuda::invalidValue;
  return driver.sticky;
}

cuda::Result cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags) {
  INGOT_EMUGPU_ENTER(cuMemHostAlloc);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  (void)flags;
  if (!bytes)
    return cuda::invalidValue;
  if (cuda::Result refused = driver.disturbCaptures())
    return refused;
  std::unique_ptr<uint8_t[]> memory(new (std::nothrow) uint8_t[bytes]);
  if (!memory)
    return cuda::outOfMemory;
  memset(memory.get(), kPoison, bytes);
  *pointer = memory.get();
  const uint64_t address = reinterpret_cast<uint64_t>(memory.get());
  driver.pinnedBytes[address] = bytes;
  driver.pinned[address] = std::move(memory);
  return cuda::success;
}

cuda::Result cuMemFreeHost(void *pointer) {
  INGOT_EMUGPU_ENTER(cuMemFreeHost);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  const uint64_t address = reinterpret_cast<uint64_t>(pointer);
  if (!driver.pinnedBytes.count(address))
    return cuda::invalidValue;
  driver.finishAll();
  driver.pinnedBytes.erase(address);
  driver.pinned.erase(address);
  return driver.sticky;
}

cuda::Result cuPointerGetAttribute(void *data, cuda::PointerAttribute attribute,
                                   cuda::DevicePointer address) {
  INGOT_EMUGPU_ENTER(cuPointerGetAttribute);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  if (attribute != cuda::pointerMemoryType &&
      attribute != cuda::pointerIsManaged && attribute != cuda::pointerDevice)
    return cuda::invalidValue;
  unsigned type;
  cuda::Device device = 0;
  if (const Allocation *found = driver.memory->find(address, 1)) {
    type = cuda::memoryDevice;
    auto owner = driver.foreign.find(found->address);
    if (owner != driver.foreign.end())
      device = owner->second;
  } else if (driver.isPinned(reinterpret_cast<void *>(address))) {
    type = cuda::memoryHost;
  } else {
    return cuda::invalidValue; // memory that the driver does not know
  }
  // There is no managed memory.
  const unsigned value = attribute == cuda::pointerDevice ? unsigned(device)
                         : attribute == cuda::pointerIsManaged ? 0
                                                               : type;
  memcpy(data, &value, sizeof(value));
  return cuda::success;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

cuda::Result cuMemcpyHtoDAsync_v2(cuda::DevicePointer target,
                                  const void *source, size_t bytes,
                                  cuda::Stream stream) {
  INGOT_EMUGPU_ENTER(cuMemcpyHtoDAsync_v2);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  if (!driver.memory->find(target, bytes))
    return cuda::invalidValue;
  // If memory is not pinned, the driver copies from it immediately.
  std::shared_ptr<std::vector<uint8_t>> staged;
  if (!driver.isPinned(source)) {
    auto *data = static_cast<const uint8_t *>(source);
    staged = std::make_shared<std::vector<uint8_t>>(data, data + bytes);
  }
  const cuda::Result result =
      driver.enqueue(stream, "copy to the device", [=](Work &work) {
        uint8_t *to =
            Driver::get().access(work, target, bytes, /*isWrite=*/true);
        memcpy(to, staged ? staged->data() : source, bytes);
      });
  cuda::StreamObject &object = driver.streamOf(stream);
  if (!staged && !object.queue.empty() &&
      object.queue.back().number == object.enqueued) {
    object.queue.back().hostSource = static_cast<const uint8_t *>(source);
    object.queue.back().hostBytes = bytes;
  }
  return result;
}

cuda::Result cuMemcpyDtoHAsync_v2(void *target, cuda::DevicePointer source,
                                  size_t bytes, cuda::Stream stream) {
  INGOT_EMUGPU_ENTER(cuMemcpyDtoHAsync_v2);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  if (!driver.memory->find(source, bytes))
    return cuda::invalidValue;
  // The target is NaN until the program waits for the copy.
  driver.finishReaders(driver.streamOf(stream).clock, target, bytes);
  memset(target, kPoison, bytes);
  const cuda::Result result =
      driver.enqueue(stream, "copy to the host", [=](Work &work) {
        memcpy(target,
               Driver::get().access(work, source, bytes, /*isWrite=*/false),
               bytes);
      });
  // If memory is not pinned, the driver itself waits for the copy.
  if (result || driver.isPinned(target))
    return result;
  cuda::StreamObject &object = driver.streamOf(stream);
  driver.finish(object.index, object.enqueued);
  join(driver.hostClock, object.clock);
  return driver.sticky;
}

cuda::Result cuMemcpyDtoDAsync_v2(cuda::DevicePointer target,
                                  cuda::DevicePointer source, size_t bytes,
                                  cuda::Stream stream) {
  INGOT_EMUGPU_ENTER(cuMemcpyDtoDAsync_v2);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  if (!driver.memory->find(source, bytes) ||
      !driver.memory->find(target, bytes))
    return cuda::invalidValue;
  return driver.enqueue(stream, "copy on the device", [=](Work &work) {
    const uint8_t *from =
        Driver::get().access(work, source, bytes, /*isWrite=*/false);
    memmove(Driver::get().access(work, target, bytes, /*isWrite=*/true), from,
            bytes);
  });
}

cuda::Result cuMemsetD8Async(cuda::DevicePointer target, unsigned char value,
                             size_t bytes, cuda::Stream stream) {
  INGOT_EMUGPU_ENTER(cuMemsetD8Async);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  if (!driver.memory->find(target, bytes))
    return cuda::invalidValue;
  return driver.enqueue(stream, "memset", [=](Work &work) {
    memset(Driver::get().access(work, target, bytes, /*isWrite=*/true), value,
           bytes);
  });
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

cuda::Result cuStreamCreate(cuda::Stream *stream, unsigned flags) {
  INGOT_EMUGPU_ENTER(cuStreamCreate);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  if (flags & ~unsigned(cuda::streamNonBlocking))
    return cuda::invalidValue;
  auto made = std::make_unique<cuda::StreamObject>();
  made->index = driver.streams.size();
  made->context = currentContexts().back();
  *stream = made.get();
  driver.streams.push_back(std::move(made));
  return cuda::success;
}

cuda::Result cuStreamDestroy_v2(cuda::Stream stream) {
  INGOT_EMUGPU_ENTER(cuStreamDestroy_v2);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  if (!stream || !driver.isStream(stream))
    return cuda::invalidHandle;
  // The work of the stream continues, as on a GPU.
  stream->isDestroyed = true;
  return cuda::success;
}

cuda::Result cuStreamGetCtx(cuda::Stream stream, cuda::Context *context) {
  INGOT_EMUGPU_ENTER(cuStreamGetCtx);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  if (!context)
    return cuda::invalidValue;
  if (!driver.isStream(stream))
    return cuda::invalidHandle;
  *context =
      Driver::isDefault(stream) ? currentContexts().back() : stream->context;
  return cuda::success;
}

cuda::Result cuStreamSynchronize(cuda::Stream stream) {
  INGOT_EMUGPU_ENTER(cuStreamSynchronize);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  if (!driver.isStream(stream))
    return cuda::invalidHandle;
  cuda::StreamObject &object = driver.streamOf(stream);
  if (cuda::Result refused = driver.refuseCapture(object))
    return refused;
  driver.finish(object.index, object.enqueued);
  join(driver.hostClock, object.clock);
  return driver.sticky;
}

cuda::Result cuStreamQuery(cuda::Stream stream) {
  INGOT_EMUGPU_ENTER(cuStreamQuery);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  if (!driver.isStream(stream))
    return cuda::invalidHandle;
  cuda::StreamObject &object = driver.streamOf(stream);
  if (cuda::Result refused = driver.refuseCapture(object))
    return refused;
  if (!object.queue.empty())
    driver.finish(object.index, object.executed + 1);
  if (!object.queue.empty())
    return cuda::notReady;
  join(driver.hostClock, object.clock);
  return driver.sticky;
}

cuda::Result cuStreamWaitEvent(cuda::Stream stream, cuda::Event event,
                               unsigned flags) {
  INGOT_EMUGPU_ENTER(cuStreamWaitEvent);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  if (flags)
    return cuda::invalidValue;
  if (!driver.events.count(event) || !driver.isStream(stream))
    return cuda::invalidHandle;
  if (event->isRecorded)
    join(driver.streamOf(stream).clock, event->clock);
  return cuda::success;
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

cuda::Result cuEventCreate(cuda::Event *event, unsigned flags) {
  INGOT_EMUGPU_ENTER(cuEventCreate);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  if (flags & ~unsigned(cuda::eventDisableTiming))
    return cuda::invalidValue;
  *event = new cuda::EventObject;
  (*event)->hasTime = !(flags & cuda::eventDisableTiming);
  driver.events.insert(*event);
  return cuda::success;
}

cuda::Result cuEventDestroy_v2(cuda::Event event) {
  INGOT_EMUGPU_ENTER(cuEventDestroy_v2);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  if (!driver.events.erase(event))
    return cuda::invalidHandle;
  delete event;
  return cuda::success;
}

cuda::Result cuEventRecord(cuda::Event event, cuda::Stream stream) {
  INGOT_EMUGPU_ENTER(cuEventRecord);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  if (!driver.events.count(event) || !driver.isStream(stream))
    return cuda::invalidHandle;
  cuda::StreamObject &object = driver.streamOf(stream);
  event->isRecorded = true;
  event->stream = object.index;
  event->number = object.enqueued;
  event->clock = object.clock;
  return cuda::success;
}

cuda::Result cuEventQuery(cuda::Event event) {
  INGOT_EMUGPU_ENTER(cuEventQuery);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  if (!driver.events.count(event))
    return cuda::invalidHandle;
  driver.maybeRun();
  if (event->isRecorded &&
      driver.streams[event->stream]->executed < event->number)
    return cuda::notReady;
  join(driver.hostClock, event->clock);
  return driver.sticky;
}

cuda::Result cuEventSynchronize(cuda::Event event) {
  INGOT_EMUGPU_ENTER(cuEventSynchronize);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  if (!driver.events.count(event))
    return cuda::invalidHandle;
  if (event->isRecorded) {
    driver.finish(event->stream, event->number);
    join(driver.hostClock, event->clock);
  }
  return driver.sticky;
}

cuda::Result cuEventElapsedTime(float *milliseconds, cuda::Event begin,
                                cuda::Event end) {
  INGOT_EMUGPU_ENTER(cuEventElapsedTime);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  for (cuda::Event event : {begin, end}) {
    if (!driver.events.count(event) || !event->isRecorded || !event->hasTime)
      return cuda::invalidHandle;
    if (driver.streams[event->stream]->executed < event->number)
      return cuda::notReady;
  }
  // The emulator has no notion of time, so it counts work.
  *milliseconds = float(int64_t(end->number - begin->number));
  return cuda::success;
}
