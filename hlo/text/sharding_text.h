// Shardings as canonical text (docs/spec/hlo-text.md section 5). They are opaque to evaluation but for runs
// on several devices.
#ifndef ASSAY_HLO_TEXT_SHARDING_TEXT_H_
#define ASSAY_HLO_TEXT_SHARDING_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

#include "hlo/shard_layout.h"
#include "hlo/text/token_reader.h"
#include "shape/shape.h"

namespace assay {

// A whole sharding in braces.
absl::Status ReadSharding(TokenReader& in, std::string* canonical);

// {kind="sharding", entry=SHARDING, exit=SHARDING}, in any order, each once.
absl::Status ReadDomain(TokenReader& in, std::string* canonical);

// A single sharding on a tuple is meant for every leaf: "{{replicated}, {replicated}}".
void SpreadShardingOverTuple(const Shape& shape, std::string* sharding);

// The shardings of the leaves of a tuple, or the one of an array, of canonical text.
std::vector<std::string> LeafShardings(std::string_view sharding);

// Tiles of the sharding of an array of `rank` dimensions are as many-dimensional, and no device stands twice.
absl::Status CheckTiles(std::string_view sharding, int64_t rank);

// Where the pieces of an array of `rank` dimensions lie (SDY-23): "{devices=[2,1,2]<=[4]
// last_tile_dim_replicate}", and the form with a mesh. Kinds without tiles ({replicated}, {manual}, ...)
// leave it whole on each of `num_devices`.
absl::StatusOr<ShardLayout> LayoutOfSharding(std::string_view sharding, int64_t rank, int64_t num_devices);

}  // namespace assay

#endif  // ASSAY_HLO_TEXT_SHARDING_TEXT_H_
