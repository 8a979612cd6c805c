// Arguments and results of a program, one array or token each.
#ifndef ASSAY_PJRT_PLUGIN_LEAF_H_
#define ASSAY_PJRT_PLUGIN_LEAF_H_

#include <memory>
#include <optional>
#include <string>

#include "hlo/shard_layout.h"
#include "shape/shape.h"

namespace assay::pjrt {

// An argument or a result: an array or token, a leaf of the entry computation's parameters or of its root.
struct Leaf {
  std::shared_ptr<const Shape> shape;        // of the whole value
  std::shared_ptr<const Shape> local_shape;  // of what one device holds
  std::optional<ShardLayout> layout;         // how it is cut; nothing: each device holds all of it
  bool donated = false;                      // of an argument: its buffer may be overwritten
  DimVector minor_to_major = {};             // the order of dimensions that the program says; of arrays
  std::string memory_kind = "device";        // of a result: where it is to lie
};

}  // namespace assay::pjrt

#endif  // ASSAY_PJRT_PLUGIN_LEAF_H_
