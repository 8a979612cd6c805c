// Facts of single ops that are syntax of HLO text alone, by op_syntax.def.
#ifndef ASSAY_HLO_OP_SYNTAX_H_
#define ASSAY_HLO_OP_SYNTAX_H_

#include "hlo/opcode.h"

namespace assay {

enum class Syntax : uint8_t {
  kOwnAsyncForm,
  kAsync,
  kContinuesAsync,
  kShowsGroups,
  kShowsNoDimensions,
  kShowsAllDimensions,
  kShowsContracting,
  kShowsLargest,
  kShowsIsAssociative,
  kShowsOutfeedShape,
  kHidesDimensions,
  kHidesIsStable,
  kDimensionsLater,
  kCallsAsList,
  kOwnAliasing,
  kKeepsOrder,
};

bool Has(Opcode opcode, Syntax fact);

}  // namespace assay

#endif  // ASSAY_HLO_OP_SYNTAX_H_
