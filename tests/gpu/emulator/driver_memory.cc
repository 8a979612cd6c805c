// The functions of the driver API that take, give back, copy and fill memory.
#include <cstdio>
#include <cstring>
#include <new>

#include "tests/gpu/emulator/emulator.h"

using namespace assay::emulated;  // NOLINT: a file of C functions
namespace cuda = assay::gpu::cuda;
using cuda::Result;

namespace {

Result Allocate(Emulator* emulator, bool of_pool, size_t bytes, cuda::Address* address) {
  if (bytes == 0) return Result::kInvalidValue;
  const uint64_t limit = static_cast<uint64_t>(emulator->settings.memory);
  // What waits in a stream to be freed is still there.
  if (bytes > limit || emulator->heap.bytes() > limit - bytes) return Result::kOutOfMemory;
  const uint64_t allocated = emulator->heap.Allocate(bytes);
  if (allocated == 0) return Result::kOutOfMemory;
  emulator->memory[allocated] = {.of_pool = of_pool};
  *address = allocated;
  return Result::kSuccess;
}

Result Free(Emulator* emulator, uint64_t address) {
  emulator->memory.erase(address);
  const std::string trouble = emulator->heap.Free(address);
  return trouble.empty() ? Result::kSuccess : emulator->Break(Result::kIllegalAddress, trouble);
}

// Ends the context where these bytes aren't those of one allocation.
Result Within(Emulator* emulator, const char* what, uint64_t address, uint64_t bytes) {
  if (emulator->heap.Contains(address, bytes)) return Result::kSuccess;
  return emulator->Break(Result::kIllegalAddress,
                         std::string(what) + " " + emulator->heap.Describe(address, bytes));
}

// Whether the device copies from or to it by itself.
bool IsPinned(const Emulator& emulator, const void* host, size_t bytes) {
  auto block = emulator.host.upper_bound(const_cast<void*>(host));
  if (block == emulator.host.begin()) return false;
  --block;
  const size_t offset =
      static_cast<size_t>(static_cast<const char*>(host) - static_cast<const char*>(block->first));
  return offset <= block->second.bytes && bytes <= block->second.bytes - offset;
}

// Copies when the stream is there; at once where the host's memory isn't pinned, as drivers may.
Result CopyWithHost(Emulator* emulator, cuda::Stream stream, const void* host, cuda::Address device,
                    size_t bytes, const std::function<void()>& copy, const char* what) {
  if (!Knows(emulator->streams, stream)) return Result::kInvalidHandle;
  if (const Result captured = emulator->NotInCapture(stream); captured != Result::kSuccess) return captured;
  if (bytes == 0) return Result::kSuccess;
  const bool pinned = IsPinned(*emulator, host, bytes);
  const Result result = emulator->Enqueue(stream, [=] {
    if (pinned && !IsPinned(*emulator, host, bytes))
      return emulator->Break(Result::kIllegalAddress,
                             std::string(what) + " the host's memory, which was freed");
    const Result within = Within(emulator, what, device, bytes);
    if (within == Result::kSuccess) copy();
    return within;
  });
  return pinned || result != Result::kSuccess ? result : emulator->Drain(stream);
}

}  // namespace

extern "C" {

Result cuMemHostAlloc(void** host, size_t bytes, unsigned flags) {
  return Call("cuMemHostAlloc", Needs::kContext, [&](Emulator& emulator) {
    if (flags != 0 || bytes == 0) return Result::kInvalidValue;
    std::unique_ptr<std::byte[]> storage(new (std::nothrow) std::byte[bytes]);
    if (storage == nullptr) return Result::kOutOfMemory;
    *host = storage.get();
    emulator.host[*host] = {bytes, std::move(storage)};
    return Result::kSuccess;
  });
}

Result cuMemFreeHost(void* host) {
  return Call("cuMemFreeHost", Needs::kContext, [&](Emulator& emulator) {
    return emulator.host.erase(host) == 1 ? Result::kSuccess : Result::kInvalidValue;
  });
}

Result cuMemAlloc_v2(cuda::Address* address, size_t bytes) {
  return Call("cuMemAlloc_v2", Needs::kContext,
              [&](Emulator& emulator) { return Allocate(&emulator, false, bytes, address); });
}

// At once, whatever waits in streams.
Result cuMemFree_v2(cuda::Address address) {
  return Call("cuMemFree_v2", Needs::kContext, [&](Emulator& emulator) {
    const auto block = emulator.memory.find(address);
    if (block == emulator.memory.end() || block->second.freed) return Result::kInvalidValue;
    return Free(&emulator, address);
  });
}

Result cuMemPoolCreate(cuda::Pool* pool, const cuda::PoolProperties* properties) {
  return Call("cuMemPoolCreate", Needs::kContext, [&](Emulator& emulator) {
    if (emulator.settings.pools == 0) return Result::kNotSupported;
    if (properties->allocation_type != 1 || properties->handle_types != 0 || properties->location_type != 1 ||
        properties->location_id != 0)
      return Result::kInvalidValue;
    *pool = Add(&emulator.pools, std::make_unique<cuda::PoolObject>());
    return Result::kSuccess;
  });
}

// What was taken from it lives on.
Result cuMemPoolDestroy(cuda::Pool pool) {
  return Call("cuMemPoolDestroy", Needs::kContext, [&](Emulator& emulator) {
    return emulator.pools.erase(pool) == 1 ? Result::kSuccess : Result::kInvalidHandle;
  });
}

Result cuMemPoolSetAttribute(cuda::Pool pool, cuda::PoolAttribute attribute, void* value) {
  return Call("cuMemPoolSetAttribute", Needs::kContext, [&](Emulator& emulator) {
    if (!Knows(emulator.pools, pool)) return Result::kInvalidHandle;
    return attribute == cuda::PoolAttribute::kReleaseThreshold && value != nullptr ? Result::kSuccess
                                                                                   : Result::kInvalidValue;
  });
}

Result cuMemPoolTrimTo(cuda::Pool pool, size_t) {
  return Call("cuMemPoolTrimTo", Needs::kContext, [&](Emulator& emulator) {
    return Knows(emulator.pools, pool) ? Result::kSuccess : Result::kInvalidHandle;
  });
}

Result cuMemAllocFromPoolAsync(cuda::Address* address, size_t bytes, cuda::Pool pool, cuda::Stream stream) {
  return Call("cuMemAllocFromPoolAsync", Needs::kContext, [&](Emulator& emulator) {
    if (!Knows(emulator.pools, pool) || !Knows(emulator.streams, stream)) return Result::kInvalidHandle;
    if (const Result captured = emulator.NotInCapture(stream); captured != Result::kSuccess) return captured;
    return Allocate(&emulator, true, bytes, address);
  });
}

Result cuMemFreeAsync(cuda::Address address, cuda::Stream stream) {
  return Call("cuMemFreeAsync", Needs::kContext, [&](Emulator& emulator) {
    if (!Knows(emulator.streams, stream)) return Result::kInvalidHandle;
    if (const Result captured = emulator.NotInCapture(stream); captured != Result::kSuccess) return captured;
    const auto block = emulator.memory.find(address);
    if (block == emulator.memory.end() || !block->second.of_pool || block->second.freed)
      return Result::kInvalidValue;
    block->second.freed = true;
    return emulator.Enqueue(stream, [&emulator, address] { return Free(&emulator, address); });
  });
}

Result cuMemcpyHtoDAsync_v2(cuda::Address to, const void* from, size_t bytes, cuda::Stream stream) {
  return Call("cuMemcpyHtoDAsync_v2", Needs::kContext, [&](Emulator& emulator) {
    return CopyWithHost(
        &emulator, stream, from, to, bytes, [=] { std::memcpy(reinterpret_cast<void*>(to), from, bytes); },
        "a copy from the host to");
  });
}

Result cuMemcpyDtoHAsync_v2(void* to, cuda::Address from, size_t bytes, cuda::Stream stream) {
  return Call("cuMemcpyDtoHAsync_v2", Needs::kContext, [&](Emulator& emulator) {
    return CopyWithHost(
        &emulator, stream, to, from, bytes, [=] { std::memcpy(to, reinterpret_cast<void*>(from), bytes); },
        "a copy to the host of");
  });
}

Result cuMemcpyDtoDAsync_v2(cuda::Address to, cuda::Address from, size_t bytes, cuda::Stream stream) {
  return Call("cuMemcpyDtoDAsync_v2", Needs::kContext, [&](Emulator& emulator) {
    if (!Knows(emulator.streams, stream)) return Result::kInvalidHandle;
    // What becomes of bytes that are read and written is not defined.
    if (to < from + bytes && from < to + bytes && bytes != 0) return Result::kInvalidValue;
    return emulator.Enqueue(stream, [=, &emulator] {
      Result result = Within(&emulator, "a copy from", from, bytes);
      if (result == Result::kSuccess) result = Within(&emulator, "a copy to", to, bytes);
      if (result == Result::kSuccess)
        std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes);
      return result;
    });
  });
}

Result cuMemsetD8Async(cuda::Address to, unsigned char value, size_t bytes, cuda::Stream stream) {
  return Call("cuMemsetD8Async", Needs::kContext, [&](Emulator& emulator) {
    if (!Knows(emulator.streams, stream)) return Result::kInvalidHandle;
    return emulator.Enqueue(stream, [=, &emulator] {
      const Result result = Within(&emulator, "a fill of", to, bytes);
      if (result == Result::kSuccess) std::memset(reinterpret_cast<void*>(to), value, bytes);
      return result;
    });
  });
}

Result assay_memory_unused(cuda::Stream stream, cuda::Address address, int unused) {
  Emulator& emulator = Emulator::Get();
  const std::lock_guard lock(emulator.mutex);
  if (emulator.fault != Result::kSuccess) return emulator.fault;
  if (!Knows(emulator.streams, stream)) return Result::kInvalidHandle;
  return emulator.Enqueue(stream, [&emulator, address, unused] {
    const std::string trouble = unused != 0 ? emulator.heap.Unuse(address) : emulator.heap.Reuse(address);
    return trouble.empty() ? Result::kSuccess : emulator.Break(Result::kIllegalAddress, trouble);
  });
}
}
