// The functions of the driver API that capture streams as graphs and launch these. Of what may be captured
// there are kernels, copies within the device and fills; copies from and to the host, allocations and events,
// which gpu/driver does not capture, end a capture with an error, as a wait does.

#include "tests/gpu/emulator/emulator.h"

using namespace assay::emulated;  // NOLINT: a file of C functions
namespace cuda = assay::gpu::cuda;
using cuda::Result;

extern "C" {

Result cuStreamBeginCapture_v2(cuda::Stream stream, cuda::CaptureMode mode) {
  return Call("cuStreamBeginCapture_v2", Needs::kContext, [&](Emulator& emulator) {
    if (!Knows(emulator.streams, stream)) return Result::kInvalidHandle;
    if (mode != cuda::CaptureMode::kRelaxed || stream->captured != nullptr) return Result::kInvalidValue;
    stream->captured = std::make_unique<cuda::GraphObject>();
    stream->capture_failed = false;
    return Result::kSuccess;
  });
}

Result cuStreamEndCapture(cuda::Stream stream, cuda::Graph* graph) {
  return Call("cuStreamEndCapture", Needs::kContext, [&](Emulator& emulator) {
    if (!Knows(emulator.streams, stream) || stream->captured == nullptr) return Result::kInvalidValue;
    std::unique_ptr<cuda::GraphObject> captured = std::move(stream->captured);
    *graph = nullptr;
    if (stream->capture_failed) return Result::kStreamCaptureInvalidated;
    *graph = Add(&emulator.graphs, std::move(captured));
    return Result::kSuccess;
  });
}

Result cuGraphInstantiateWithFlags(cuda::GraphExec* exec, cuda::Graph graph, unsigned long long flags) {
  return Call("cuGraphInstantiateWithFlags", Needs::kContext, [&](Emulator& emulator) {
    if (!Knows(emulator.graphs, graph)) return Result::kInvalidHandle;
    if (flags != 0) return Result::kInvalidValue;
    auto made = std::make_unique<cuda::GraphExecObject>();
    made->calls = std::make_shared<const cuda::Calls>(graph->calls);
    *exec = Add(&emulator.graph_execs, std::move(made));
    return Result::kSuccess;
  });
}

// Its calls run one after the other, as late as the stream's others.
Result cuGraphLaunch(cuda::GraphExec exec, cuda::Stream stream) {
  return Call("cuGraphLaunch", Needs::kContext, [&](Emulator& emulator) {
    if (!Knows(emulator.graph_execs, exec) || !Knows(emulator.streams, stream)) return Result::kInvalidHandle;
    return emulator.Enqueue(stream, [&emulator, exec, calls = exec->calls] {
      if (!Knows(emulator.graph_execs, exec))
        return emulator.Break(Result::kLaunchFailed, "a graph was destroyed before it ran");
      for (const auto& call : *calls) {
        const Result result = call();
        if (result != Result::kSuccess) return result;
      }
      return Result::kSuccess;
    });
  });
}

Result cuGraphExecDestroy(cuda::GraphExec exec) {
  return Call("cuGraphExecDestroy", Needs::kContext, [&](Emulator& emulator) {
    return emulator.graph_execs.erase(exec) == 1 ? Result::kSuccess : Result::kInvalidHandle;
  });
}

Result cuGraphDestroy(cuda::Graph graph) {
  return Call("cuGraphDestroy", Needs::kContext, [&](Emulator& emulator) {
    return emulator.graphs.erase(graph) == 1 ? Result::kSuccess : Result::kInvalidHandle;
  });
}
}
