// The functions of the driver API that concern device, context, streams and events, and errors.
#include <cstdio>
#include <cstring>
#include <type_traits>

#include "tests/gpu/emulator/emulator.h"

using namespace assay::emulated;  // NOLINT: a file of C functions
namespace cuda = assay::gpu::cuda;
using cuda::Result;

namespace {

struct ErrorText {
  Result error;
  const char* name;
  const char* text;
};

constexpr ErrorText kErrorTexts[] = {
#define ASSAY_CUDA_TEXT(our_name, cuda_name, value, lasting) \
  {Result::our_name, #cuda_name, "emulated error " #value},
    ASSAY_CUDA_RESULTS(ASSAY_CUDA_TEXT)
#undef ASSAY_CUDA_TEXT
};

const ErrorText* Find(Result error) {
  for (const ErrorText& text : kErrorTexts) {
    if (text.error == error) return &text;
  }
  return nullptr;
}

Result OnDevice(const char* function, cuda::DeviceNumber device,
                const std::function<Result(Emulator&)>& body) {
  return Call(function, Needs::kStart, [&](Emulator& emulator) {
    return device != 0 || emulator.settings.devices == 0 ? Result::kInvalidDevice : body(emulator);
  });
}

}  // namespace

extern "C" {

Result cuGetErrorName(Result error, const char** name) {
  return Call("cuGetErrorName", Needs::kNothing, [&](Emulator&) {
    const ErrorText* const found = Find(error);
    *name = found == nullptr ? nullptr : found->name;
    return found == nullptr ? Result::kInvalidValue : Result::kSuccess;
  });
}

Result cuGetErrorString(Result error, const char** text) {
  return Call("cuGetErrorString", Needs::kNothing, [&](Emulator& emulator) {
    const ErrorText* const found = Find(error);
    *text = nullptr;
    if (found == nullptr) return Result::kInvalidValue;
    emulator.error_text = found->text;
    if (error == emulator.fault) emulator.error_text += ": " + emulator.fault_text;
    *text = emulator.error_text.c_str();
    return Result::kSuccess;
  });
}

Result cuDriverGetVersion(int* version) {
  return Call("cuDriverGetVersion", Needs::kNothing, [&](Emulator& emulator) {
    *version = static_cast<int>(emulator.settings.driver_version);
    return Result::kSuccess;
  });
}

Result cuInit(unsigned flags) {
  return Call("cuInit", Needs::kNothing, [&](Emulator& emulator) {
    if (flags != 0) return Result::kInvalidValue;
    // As a driver without a device says it.
    if (emulator.settings.devices == 0) return Result::kNoDevice;
    emulator.initialized = true;
    return Result::kSuccess;
  });
}

Result cuDeviceGetCount(int* count) {
  return Call("cuDeviceGetCount", Needs::kStart, [&](Emulator& emulator) {
    *count = static_cast<int>(emulator.settings.devices);
    return Result::kSuccess;
  });
}

Result cuDeviceGet(cuda::DeviceNumber* device, int ordinal) {
  return OnDevice("cuDeviceGet", ordinal, [&](Emulator&) {
    *device = ordinal;
    return Result::kSuccess;
  });
}

Result cuDeviceGetName(char* name, int bytes, cuda::DeviceNumber device) {
  return OnDevice("cuDeviceGetName", device, [&](Emulator& emulator) {
    std::snprintf(name, static_cast<size_t>(bytes), "%s", emulator.settings.name.c_str());
    return Result::kSuccess;
  });
}

Result cuDeviceTotalMem_v2(size_t* bytes, cuda::DeviceNumber device) {
  return OnDevice("cuDeviceTotalMem_v2", device, [&](Emulator& emulator) {
    *bytes = static_cast<size_t>(emulator.settings.memory);
    return Result::kSuccess;
  });
}

Result cuDeviceGetAttribute(int* value, cuda::DeviceAttribute attribute, cuda::DeviceNumber device) {
  return OnDevice("cuDeviceGetAttribute", device, [&](Emulator& emulator) {
    const Settings& settings = emulator.settings;
    const auto give = [&](int64_t of) {
      *value = static_cast<int>(of);
      return Result::kSuccess;
    };
    switch (attribute) {
      case cuda::DeviceAttribute::kMultiprocessorCount:
        return give(settings.multiprocessors);
      case cuda::DeviceAttribute::kCapabilityMajor:
        return give(settings.capability_major);
      case cuda::DeviceAttribute::kCapabilityMinor:
        return give(settings.capability_minor);
      case cuda::DeviceAttribute::kSharedPerBlockOptIn:
        return give(settings.shared);
      case cuda::DeviceAttribute::kMemoryPoolsSupported:
        return give(settings.pools);
    }
    return Result::kInvalidValue;
  });
}

Result cuDevicePrimaryCtxRetain(cuda::Context* context, cuda::DeviceNumber device) {
  return OnDevice("cuDevicePrimaryCtxRetain", device, [&](Emulator& emulator) {
    if (emulator.context == nullptr) emulator.context = std::make_unique<cuda::ContextObject>();
    ++emulator.retained;
    *context = emulator.context.get();
    return Result::kSuccess;
  });
}

Result cuDevicePrimaryCtxRelease_v2(cuda::DeviceNumber device) {
  return OnDevice("cuDevicePrimaryCtxRelease_v2", device, [&](Emulator& emulator) {
    if (emulator.retained == 0) return Result::kInvalidContext;
    if (--emulator.retained == 0) emulator.DestroyContext();
    return Result::kSuccess;
  });
}

Result cuCtxPushCurrent_v2(cuda::Context context) {
  return Call("cuCtxPushCurrent_v2", Needs::kStart, [&](Emulator& emulator) {
    if (context == nullptr || context != emulator.context.get()) return Result::kInvalidContext;
    CurrentContexts().push_back(context);
    return Result::kSuccess;
  });
}

Result cuCtxPopCurrent_v2(cuda::Context* context) {
  return Call("cuCtxPopCurrent_v2", Needs::kStart, [&](Emulator&) {
    if (CurrentContexts().empty()) return Result::kInvalidContext;
    *context = CurrentContexts().back();
    CurrentContexts().pop_back();
    return Result::kSuccess;
  });
}

Result cuStreamCreate(cuda::Stream* stream, unsigned flags) {
  return Call("cuStreamCreate", Needs::kContext, [&](Emulator& emulator) {
    if (flags > cuda::kStreamNonBlocking) return Result::kInvalidValue;
    *stream = Add(&emulator.streams, std::make_unique<cuda::StreamObject>());
    return Result::kSuccess;
  });
}

Result cuStreamDestroy_v2(cuda::Stream stream) {
  return Call("cuStreamDestroy_v2", Needs::kContext, [&](Emulator& emulator) {
    if (!Knows(emulator.streams, stream)) return Result::kInvalidHandle;
    const Result result = emulator.Drain(stream);
    for (const auto& [event, object] : emulator.events) {
      if (object->stream == stream) *object = {};
    }
    emulator.streams.erase(stream);
    return result;
  });
}

Result cuStreamSynchronize(cuda::Stream stream) {
  return Call("cuStreamSynchronize", Needs::kContext, [&](Emulator& emulator) {
    if (!Knows(emulator.streams, stream)) return Result::kInvalidHandle;
    const Result captured = emulator.NotInCapture(stream);
    return captured == Result::kSuccess ? emulator.Drain(stream) : captured;
  });
}

Result cuEventCreate(cuda::Event* event, unsigned flags) {
  return Call("cuEventCreate", Needs::kContext, [&](Emulator& emulator) {
    if (flags != cuda::kEventDisableTiming && flags != cuda::kEventDefault) return Result::kNotSupported;
    *event = Add(&emulator.events, std::make_unique<cuda::EventObject>());
    (*event)->is_timed = flags == cuda::kEventDefault;
    return Result::kSuccess;
  });
}

Result cuEventDestroy_v2(cuda::Event event) {
  return Call("cuEventDestroy_v2", Needs::kContext, [&](Emulator& emulator) {
    return emulator.events.erase(event) == 1 ? Result::kSuccess : Result::kInvalidHandle;
  });
}

Result cuEventRecord(cuda::Event event, cuda::Stream stream) {
  return Call("cuEventRecord", Needs::kContext, [&](Emulator& emulator) {
    if (!Knows(emulator.events, event) || !Knows(emulator.streams, stream)) return Result::kInvalidHandle;
    if (const Result captured = emulator.NotInCapture(stream); captured != Result::kSuccess) return captured;
    event->stream = stream;
    event->done = std::make_shared<bool>(false);
    event->time = std::make_shared<std::chrono::steady_clock::time_point>();
    return emulator.Enqueue(stream, [done = event->done, time = event->time] {
      *done = true;
      *time = std::chrono::steady_clock::now();
      return Result::kSuccess;
    });
  });
}

Result cuEventSynchronize(cuda::Event event) {
  return Call("cuEventSynchronize", Needs::kContext, [&](Emulator& emulator) {
    if (!Knows(emulator.events, event)) return Result::kInvalidHandle;
    if (event->done == nullptr) return Result::kSuccess;
    const std::shared_ptr<bool> done = event->done;
    return emulator.Drain(event->stream, done.get());
  });
}

// The time of the machine that emulates. What was not done yet has none.
Result cuEventElapsedTime(float* milliseconds, cuda::Event start, cuda::Event end) {
  return Call("cuEventElapsedTime", Needs::kContext, [&](Emulator& emulator) {
    for (const cuda::Event event : {start, end}) {
      if (!Knows(emulator.events, event) || !event->is_timed || event->done == nullptr)
        return Result::kInvalidHandle;
      if (!*event->done) return Result::kNotReady;
    }
    *milliseconds = std::chrono::duration<float, std::milli>(*end->time - *start->time).count();
    return Result::kSuccess;
  });
}
}
