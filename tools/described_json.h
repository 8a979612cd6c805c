// Elements of instructions as JSON.
#ifndef ASSAY_TOOLS_DESCRIBED_JSON_H_
#define ASSAY_TOOLS_DESCRIBED_JSON_H_

#include "base/json_writer.h"
#include "find/origin/described.h"

namespace assay::cli {

// {"name": "while.1/it0002/add.5", "op": "add", "shape": "f32[4]", "source": "FILE:12", "index": [2],
// "value": "nan", "loops": [{"loop": "while.1", "iteration": 2, "condition": false}], "device": ""}
inline void WriteElement(const DescribedElement& of, JsonWriter& json) {
  const auto write_loop = [&](const LoopIteration& loop) {
    json.Object("loop", loop.loop, "iteration", loop.iteration, "condition", loop.is_condition);
  };
  json.Object(
      "name", of.name, "op", of.op, "shape", of.shape, "source", of.source, "index", of.index, "value",
      of.value, "loops", [&] { json.Array(of.loops, write_loop); }, "device", of.device);
}

}  // namespace assay::cli

#endif  // ASSAY_TOOLS_DESCRIBED_JSON_H_
