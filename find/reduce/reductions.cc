#include "find/reduce/arrays.h"
#include "find/reduce/attributes.h"
#include "find/reduce/calls.h"
#include "find/reduce/reduction.h"
#include "find/reduce/replacements.h"
#include "find/reduce/roots.h"
#include "find/reduce/shapes.h"
#include "find/reduce/values.h"

namespace assay {
namespace {

constexpr Reduction kReductions[] = {
    {"drop outputs", TryOrder::kHalving, OutputPlaces, DropOutputs},
    {"cut to an instruction", TryOrder::kFromStart, RootPlaces, CutToRoot},
    {"drop unused parameters", TryOrder::kHalving, UnusedPlaces, DropUnused},
    {"replace instructions by parameters", TryOrder::kHalving, ParameterPlaces, MakeParameters},
    {"drop side effects", TryOrder::kHalving, EffectPlaces, DropEffects},
    {"run a loop's body once", TryOrder::kHalving, LoopPlaces, RunBodyOnce},
    {"inline a branch", TryOrder::kOneByOne, BranchPlaces, InlineBranches},
    {"inline calls", TryOrder::kHalving, CallPlaces, InlineCalls},
    {"freeze the state of loops", TryOrder::kHalving, FreezePlaces, FreezeState},
    {"drop the state of loops", TryOrder::kHalving, StatePlaces, DropState},
    {"replace instructions by operands", TryOrder::kHalving, OperandPlaces, UseOperands},
    {"replace instructions by numbers", TryOrder::kHalving, FillPlaces, FillWithNumbers},
    {"leave out arrays", TryOrder::kOneByOne, ArrayPlaces, DropArrays},
    {"make sizes smaller", TryOrder::kOneByOne, SizePlaces, MakeSmaller},
    {"simplify windows", TryOrder::kOneByOne, WindowPlaces, SimplifyWindows},
    {"leave out dimensions of size 1", TryOrder::kOneByOne, RankPlaces, DropRanks},
    {"replace inputs by constants", TryOrder::kHalving, ConstantPlaces, MakeConstants},
    {"make types simpler", TryOrder::kOneByOne, TypePlaces, SimplifyType},
    {"drop attributes", TryOrder::kHalving, AttributePlaces, DropAttributes},
    {"simplify values", TryOrder::kHalving, ValuePlaces, SimplifyValues},
};

}  // namespace

std::span<const Reduction> Reductions() { return kReductions; }

}  // namespace assay
