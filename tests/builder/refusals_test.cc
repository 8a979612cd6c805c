// What the builder's functions refuse by rules of their own, which no instruction of a text can violate.
#include <catch2/catch.hpp>
#include <functional>
#include <limits>

#include "base/error.h"
#include "builder/builder.h"
#include "tests/builder/built_program.h"

namespace assay::builder {
namespace {

// The builder's first error.
absl::Status ErrorOf(const std::function<void(XlaBuilder*)>& calls) {
  XlaBuilder b("refused");
  b.SetReplicaCount(2);
  calls(&b);
  return b.first_error();
}

XlaOp ArrayParameter(XlaBuilder* b, const std::string& shape) { return Parameter(b, 0, ShapeOf(shape), "x"); }

struct Refusal {
  std::string begins;
  std::function<void(XlaBuilder*)> calls;
  int exit_code = 3;
};

void Check(const std::vector<Refusal>& refusals) {
  for (const Refusal& refusal : refusals) {
    const absl::Status error = ErrorOf(refusal.calls);
    INFO(refusal.begins << "\n" << error.message());
    CHECK(error.message().substr(0, refusal.begins.size()) == refusal.begins);
    CHECK(ExitCodeOf(error) == refusal.exit_code);
  }
}

TEST_CASE("builder refuses: collapse", "[builder]") {
  const auto collapse = [](const std::string& shape, std::vector<int64_t> dimensions) {
    return [=](XlaBuilder* b) { Collapse(ArrayParameter(b, shape), dimensions); };
  };
  Check({{"Collapse-C1: dimension 0 after 1", collapse("f32[2,3,4]", {1, 0})},
         {"Collapse-C1: dimension 2 after 0", collapse("f32[2,3,4]", {0, 2})},
         {"Collapse-C2: dimension 3 of f32[2,3,4]", collapse("f32[2,3,4]", {2, 3})},
         {"Collapse-C2: dimension -1 of f32[2,3,4]", collapse("f32[2,3,4]", {-1, 0})},
         {"Collapse-C2: ", collapse("(f32[2])", {0, 1})}});
}

TEST_CASE("builder refuses: map with static operands", "[builder]") {
  const XlaComputation add = Must(CreateScalarAddComputation(ElementType::kF32));
  Check({{"Map-C5: static operands",
          [&](XlaBuilder* b) {
            const XlaOp x = ArrayParameter(b, "f32[2]");
            Map(b, {x, x}, add, {0}, {x});
          },
          4}});
}

TEST_CASE("builder refuses: dot of other ranks than 1 and 2", "[builder]") {
  const auto dot = [](const std::string& lhs, const std::string& rhs) {
    return [=](XlaBuilder* b) { Dot(ArrayParameter(b, lhs), Parameter(b, 1, ShapeOf(rhs), "y")); };
  };
  Check({{"Dot-C1: ranks must be 1 or 2, operands are f32[] and f32[2]", dot("f32[]", "f32[2]")},
         {"Dot-C1: ranks must be 1 or 2", dot("f32[2]", "f32[2,2,2]")},
         {"Dot-C1: ", dot("(f32[2])", "f32[2]")}});
}

TEST_CASE("builder refuses: convolution", "[builder]") {
  const auto conv = [](const std::string& lhs, const std::string& rhs) {
    return [=](XlaBuilder* b) {
      Conv(ArrayParameter(b, lhs), Parameter(b, 1, ShapeOf(rhs), "k"), {1}, Padding::kValid);
    };
  };
  const auto general = [](ConvDimensionNumbers numbers, std::vector<int64_t> strides) {
    return [=](XlaBuilder* b) {
      ConvGeneral(ArrayParameter(b, "f32[1,1,5]"), Parameter(b, 1, ShapeOf("f32[1,1,2]"), "k"), strides, {},
                  numbers);
    };
  };
  ConvDimensionNumbers outside = CreateDefaultConvDimensionNumbers(1);
  outside.kernel_spatial = {3};
  Check({{"Conv-C1: lhs is f32[4], wanted rank 2 or more", conv("f32[4]", "f32[1,1,2]")},
         {"Conv-C1: ", conv("f32[1,1,4]", "(f32[1,1,2])")},
         {"Conv-C2: spatial dimension 3 of f32[1,1,2]", general(outside, {1})},
         {"Conv-C3: 2 window strides, window has 1 dimension",
          general(CreateDefaultConvDimensionNumbers(1), {1, 1})}});
}

TEST_CASE("builder refuses: counts of collectives", "[builder]") {
  const XlaComputation add = Must(CreateScalarAddComputation(ElementType::kF32));
  const std::vector<ReplicaGroup> pair = {{{0, 1}}};
  Check({{"AllGather-C3: shard count is 0",
          [](XlaBuilder* b) { AllGather(ArrayParameter(b, "f32[4]"), 0, 0); }},
         {"AllGather-C3: shard count 9223372036854775807 is too large",
          [](XlaBuilder* b) {
            AllGather(ArrayParameter(b, "f32[4]"), 0, std::numeric_limits<int64_t>::max());
          }},
         {"AllGather-C3: GRP-C7: shard count is 3, a replica group has 2 members",
          [&](XlaBuilder* b) { AllGather(ArrayParameter(b, "f32[4]"), 0, 3, pair); }},
         {"AllGather-C1: ", [&](XlaBuilder* b) { AllGather(ArrayParameter(b, "(f32[4])"), 0, 2, pair); }},
         {"ReduceScatter-C2: GRP-C7: shard count is 4",
          [&](XlaBuilder* b) { ReduceScatter(ArrayParameter(b, "f32[4]"), add, 0, 4, pair); }},
         {"ReduceScatter-C2: size 5 is not divisible by shard count 2",
          [&](XlaBuilder* b) { ReduceScatter(ArrayParameter(b, "f32[5]"), add, 0, 2, pair); }},
         {"AllToAll-C2: shard count is 0",
          [](XlaBuilder* b) { AllToAll(ArrayParameter(b, "f32[4]"), 0, 0, 0); }},
         {"AllToAll-C2: GRP-C7: shard count is 4",
          [&](XlaBuilder* b) { AllToAll(ArrayParameter(b, "f32[4]"), 0, 0, 4, pair); }},
         {"CrossReplicaSum-C1: there is no element to sum",
          [](XlaBuilder* b) { CrossReplicaSum(Tuple(b, {})); }}});
}

TEST_CASE("builder refuses: channels of another kind", "[builder]") {
  const ChannelHandle device{1}, to_host{2, ChannelHandle::Type::kDeviceToHost},
      from_host{3, ChannelHandle::Type::kHostToDevice};
  const Shape scalar = ShapeOf("f32[]");
  Check({{"Send-C3: wanted a device to device channel",
          [&](XlaBuilder* b) { Send(ArrayParameter(b, "f32[]"), to_host); }},
         {"Send-C3: wanted a host channel",
          [&](XlaBuilder* b) { SendToHost(ArrayParameter(b, "f32[]"), CreateToken(b), scalar, device); }},
         {"Recv-C3: wanted a device to device channel", [&](XlaBuilder* b) { Recv(b, scalar, from_host); }},
         {"Recv-C3: wanted a host channel",
          [&](XlaBuilder* b) { RecvFromHost(CreateToken(b), scalar, device); }}});
}

}  // namespace
}  // namespace assay::builder
