// How arguments and results of a whole program are cut among the partitions: read from the shardings that the
// program states, and done to values.
#ifndef ASSAY_PJRT_PLUGIN_SHARDED_VALUES_H_
#define ASSAY_PJRT_PLUGIN_SHARDED_VALUES_H_

#include <span>
#include <string>
#include <vector>

#include "hlo/mesh.h"
#include "hlo/module.h"
#include "literal/literal.h"
#include "pjrt/plugin/leaf.h"

namespace assay::pjrt {

// Sets layout and local shape of each argument and result from the shardings of parameters and root. What
// none is stated of is whole on each device. NotSupported: a value that does not divide evenly, or is
// unreduced by other than a sum.
absl::Status SetShardings(const Module& module, int64_t partitions, std::span<Leaf> arguments,
                          std::span<Leaf> outputs);

// How the operands of a call in the entry computation lie.
absl::StatusOr<std::vector<Leaf>> OperandLeaves(const Module& module, const Instruction& call);

// The whole value of the devices' pieces, as the device sees it: of copies that differ it takes those of
// devices that agree with it on what does not cut the value. Summands of an unreduced value are summed up.
absl::StatusOr<Literal> WholeOf(const Leaf& leaf, std::span<const Literal> pieces, int64_t device);
// For each device. Those that see the same value share it.
absl::StatusOr<std::vector<Literal>> WholesOf(const Leaf& leaf, std::span<const Literal> pieces);
// The device's piece of a whole value. Of an unreduced value those with coordinate 0 have it,
// the others zeros.
absl::StatusOr<Literal> PieceOf(const Leaf& leaf, const Literal& whole, int64_t device);

// An OpSharding, as XLA's modules carry it.
std::string OpShardingBytes(const Leaf& leaf);

}  // namespace assay::pjrt

#endif  // ASSAY_PJRT_PLUGIN_SHARDED_VALUES_H_
