// Calls of handlers: buffers, attributes, errors, registration.
#include "custom/ffi/ffi_ops.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cfenv>
#include <csignal>
#include <stdexcept>

#include "base/guard_pages.h"
#include "evaluator/custom_op.h"
#include "plan/plan_text.h"
#include "tests/custom/ffi/handler_testing.h"

namespace assay::custom::ffi {
namespace {

using abi::CallFrame;
using abi::Error;
using abi::ErrorCode;
using Catch::Contains;

// What the handler below saw: "f32[2,3] 64 f32[6]".
std::string seen;

std::string Described(const abi::Buffer& buffer) {
  std::string text = fmt::format("{}[", static_cast<int>(buffer.type));
  for (int64_t d = 0; d < buffer.rank; ++d) text += fmt::format("{}{}", d == 0 ? "" : ",", buffer.sizes[d]);
  text += ']';
  if (buffer.data == nullptr || reinterpret_cast<uintptr_t>(buffer.data) % 64 != 0)
    text += " at a bad address";
  return text;
}

// Says what it is given, and copies operand i to result i.
Error* Describe(CallFrame* frame) {
  if (AnswersVersion(*frame)) return nullptr;
  seen.clear();
  for (int64_t i = 0; i < frame->arguments.size; ++i) seen += Described(ArgumentOf(*frame, i)) + ' ';
  seen += "->";
  for (int64_t i = 0; i < frame->results.size; ++i) seen += ' ' + Described(ResultOf(*frame, i));
  return nullptr;
}

template <typename T>
Error* Twice(CallFrame* frame) {
  if (AnswersVersion(*frame)) return nullptr;
  const abi::Buffer& x = ArgumentOf(*frame, 0);
  for (int64_t i = 0; i < SizeOf(x); ++i)
    static_cast<T*>(ResultOf(*frame, 0).data)[i] = static_cast<T>(static_cast<const T*>(x.data)[i] * 2);
  return nullptr;
}

TEST_CASE("ffi: a handler computes a result of the shape that the program declares", "[custom][ffi]") {
  CHECK(Called(OpsWith("twice", Twice<float>), CallProgram("twice", {"f32[2,2]"}, "f32[2,2]"),
               {"f32[2,2] {{1, 2}, {3, -4.5}}"}) == "{ { 2, 4 }, { 6, -9 } }");
  CHECK(Called(OpsWith("twice", Twice<double>), CallProgram("twice", {"f64[]"}, "f64[]"), {"f64[] 0.25"}) ==
        "0.5");
  CHECK(Called(OpsWith("twice", Twice<uint8_t>), CallProgram("twice", {"u8[3]"}, "u8[3]"),
               {"u8[3] {1, 2, 200}"}) == "{2, 4, 144}");
  CHECK(Called(OpsWith("twice", Twice<int64_t>), CallProgram("twice", {"s64[9]"}, "s64[9]"),
               {"s64[9] {1, 2, 3, 4, 5, 6, 7, 8, -9}"}) == "{2, 4, 6, 8, 10, 12, 14, 16, -18}");
}

TEST_CASE("ffi: buffers have number, sizes and aligned memory, whatever their type and size",
          "[custom][ffi]") {
  const auto ops = OpsWith("d", Describe);
  struct Row {
    std::string shape, value, number;
  };
  for (const Row& row : {Row{"pred[]", "true", "1[]"},
                         Row{"s4[3]", "{1,2,3}", "21[3]"},
                         Row{"u4[1]", "{1}", "22[1]"},
                         Row{"s2[1]", "{1}", "26[1]"},
                         Row{"u2[1]", "{1}", "27[1]"},
                         Row{"s1[1]", "{0}", "30[1]"},
                         Row{"u1[1]", "{1}", "31[1]"},
                         Row{"s8[2]", "{1,2}", "2[2]"},
                         Row{"s16[]", "1", "3[]"},
                         Row{"s32[0]", "{}", "4[0]"},
                         Row{"s64[]", "1", "5[]"},
                         Row{"u8[]", "1", "6[]"},
                         Row{"u16[]", "1", "7[]"},
                         Row{"u32[]", "1", "8[]"},
                         Row{"u64[]", "1", "9[]"},
                         Row{"f16[]", "1", "10[]"},
                         Row{"f32[2,1]", "{{1},{2}}", "11[2,1]"},
                         Row{"f64[]", "1", "12[]"},
                         Row{"bf16[]", "1", "16[]"},
                         Row{"c64[]", "(1,2)", "15[]"},
                         Row{"c128[]", "(1,2)", "18[]"},
                         Row{"f8e5m2[]", "1", "19[]"},
                         Row{"f8e4m3fn[]", "1", "20[]"},
                         Row{"f8e4m3b11fnuz[]", "1", "23[]"},
                         Row{"f8e5m2fnuz[]", "1", "24[]"},
                         Row{"f8e4m3fnuz[]", "1", "25[]"},
                         Row{"f8e4m3[]", "1", "28[]"},
                         Row{"f8e3m4[]", "1", "29[]"},
                         Row{"f4e2m1fn[]", "1", "32[]"},
                         Row{"f8e8m0fnu[]", "1", "33[]"}}) {
    INFO(row.shape);
    const absl::StatusOr<Literal> result =
        RunWith(ops, CallProgram("d", {row.shape}, row.shape), {row.shape + " " + row.value});
    CHECK(result.status() == absl::OkStatus());
    CHECK(seen == fmt::format("{0} -> {0}", row.number));
  }
  for (const std::string shape : {"f6e2m3fn[2]", "f6e3m2fn[2]"})
    CHECK_THAT(Called(ops, CallProgram("d", {shape}, shape), {}),
               Contains("exit 4") && Contains("no number"));
}

TEST_CASE("ffi: tuples are their arrays one behind the other, tokens are buffers without elements",
          "[custom][ffi]") {
  const auto ops = OpsWith("d", Describe);
  const std::string text = R"(HloModule m
ENTRY e {
  a = f32[2] parameter(0)
  b = s32[] parameter(1)
  t = token[] after-all()
  inner = (s32[], token[]) tuple(b, t)
  pair = (f32[2], (s32[], token[])) tuple(a, inner)
  ROOT r = ((u8[3], token[]), (), f64[1]) custom-call(pair, b), custom_call_target="d", api_version=API_VERSION_TYPED_FFI
})";
  CHECK(Called(ops, text, {"f32[2] {1, 2}", "s32[] 3"}).find("exit") == std::string::npos);
  CHECK(seen == "11[2] 4[] 17[] 4[] -> 6[3] 17[] 12[1]");
  const absl::StatusOr<Literal> result = RunWith(ops, text, {"f32[2] {1, 2}", "s32[] 3"});
  REQUIRE(result.ok());
  CHECK(result->shape().ToString() == "((u8[3], token[]), (), f64[1])");
  CHECK(result->element(2).GetDouble(0) == 0);  // what a handler leaves is zero
}

Error* FirstBytes(CallFrame* frame) {
  if (AnswersVersion(*frame)) return nullptr;
  const abi::Buffer& x = ArgumentOf(*frame, 0);
  const abi::Buffer& y = ResultOf(*frame, 0);
  std::memcpy(y.data, x.data, static_cast<size_t>(SizeOf(y)));
  return nullptr;
}

TEST_CASE("ffi: elements of less than a byte are packed, the first in the lowest bits", "[custom][ffi]") {
  const auto ops = OpsWith("b", FirstBytes);
  // As XLA:CPU hands them over: 1, -2, 3 are the bytes 0xE1 and 0x.3.
  CHECK(Called(ops, CallProgram("b", {"s4[3]"}, "u8[2]"), {"s4[3] {1, -2, 3}"}) == "{225, 3}");
  CHECK(Called(ops, CallProgram("b", {"u2[5]"}, "u8[2]"), {"u2[5] {1, 2, 3, 0, 2}"}) == "{57, 2}");
  CHECK(Called(ops, CallProgram("b", {"s1[3]"}, "u8[1]"), {"s1[3] {-1, 0, -1}"}) == "{5}");
  CHECK(Called(ops, CallProgram("b", {"u8[2]"}, "s4[2]"), {"u8[2] {225, 3}"}) == "{1, -2}");
  CHECK(Called(ops, CallProgram("b", {"u8[4]"}, "u4[4]"), {"u8[4] {225, 3, 0, 0}"}) == "{1, 14, 3, 0}");
  CHECK(Called(ops, CallProgram("b", {"u8[3]"}, "pred[3]"), {"u8[3] {0, 1, 7}"}) == "{0, 1, 1}");
}

Error* CopyAll(CallFrame* frame) {
  if (AnswersVersion(*frame)) return nullptr;
  const abi::Buffer& x = ArgumentOf(*frame, 0);
  std::memcpy(ResultOf(*frame, 0).data, x.data, static_cast<size_t>(SizeOf(x)) * 4);
  return nullptr;
}

TEST_CASE("ffi: a layout is the order of elements in the handler's memory", "[custom][ffi]") {
  const auto ops = OpsWith("copy", CopyAll);
  const std::vector<std::string> rows = {"s32[2,3] {{1, 2, 3}, {4, 5, 6}}"};
  // Column by column in, row by row out.
  CHECK(Called(ops,
               CallProgram("copy", {"s32[2,3]"}, "s32[2,3]", "{}",
                           ", operand_layout_constraints={s32[2,3]{0,1}}"),
               rows) == "{ { 1, 4, 2 }, { 5, 3, 6 } }");
  CHECK(Called(
            ops,
            CallProgram("copy", {"s32[2,3]"}, "s32[6]", "{}", ", operand_layout_constraints={s32[2,3]{0,1}}"),
            rows) == "{1, 4, 2, 5, 3, 6}");
  CHECK(Called(ops, CallProgram("copy", {"s32[2,3]"}, "s32[2,3]{0,1}"), rows) ==
        "{ { 1, 3, 5 }, { 2, 4, 6 } }");
  // Both: it is the same array again, here with more than fits a small block.
  std::string cube = "s32[4,3,5] {", inner;
  for (int i = 0; i < 4; ++i) {
    cube += i == 0 ? "{" : ",{";
    for (int j = 0; j < 3; ++j) {
      cube += j == 0 ? "{" : ",{";
      for (int k = 0; k < 5; ++k) cube += fmt::format("{}{}", k == 0 ? "" : ",", i * 100 + j * 10 + k);
      cube += '}';
    }
    cube += '}';
  }
  cube += '}';
  for (const std::string_view order : {"{2,1,0}", "{0,1,2}", "{1,2,0}", "{0,2,1}"}) {
    const std::string program =
        CallProgram("copy", {"s32[4,3,5]"}, fmt::format("s32[4,3,5]{}", order), "{}",
                    fmt::format(", operand_layout_constraints={{s32[4,3,5]{}}}", order));
    CHECK(Called(ops, program, {cube}) == LiteralToText(Value(cube)));
  }
  CHECK_THAT(Called(ops, CallProgram("copy", {"s32[2,4]"}, "s32[2,4]{1,0:T(2,128)}"),
                    {"s32[2,4] {{1,2,3,4},{1,2,3,4}}"}),
             Contains("exit 4") && Contains("layout"));
}

Error* AddOneInPlace(CallFrame* frame) {
  if (AnswersVersion(*frame)) return nullptr;
  const abi::Buffer& x = ArgumentOf(*frame, 0);
  if (x.data != ResultOf(*frame, 0).data)
    return NewError(*frame, ErrorCode::kInternal, "not the same memory");
  for (int64_t i = 0; i < SizeOf(x); ++i) static_cast<int32_t*>(x.data)[i] += 1;
  return nullptr;
}

TEST_CASE("ffi: an aliased result has its operand's memory, and the operand's other users see nothing",
          "[custom][ffi]") {
  const auto ops = OpsWith("inc", AddOneInPlace);
  const auto program = [](int n, std::string_view layout) {
    return fmt::format(R"(HloModule m
ENTRY e {{
  a = s32[{0}]{1} parameter(0)
  r = s32[{0}]{1} custom-call(a), custom_call_target="inc", api_version=API_VERSION_TYPED_FFI, output_to_operand_aliasing={{{{}}: (0, {{}})}}
  ROOT t = (s32[{0}]{1}, s32[{0}]{1}) tuple(a, r)
}})",
                       n, layout);
  };
  CHECK(Called(ops, program(2, "{0}"), {"s32[2] {1, 2}"}) == "( {1, 2}, {2, 3} )");
  std::string many = "s32[100] {0", before = "{0", after = "{1";
  for (int i = 1; i < 100; ++i) {
    many += fmt::format(", {}", i);
    before += fmt::format(", {}", i);
    after += fmt::format(", {}", i + 1);
  }
  CHECK(Called(ops, program(100, "{0}"), {many + "}"}) == fmt::format("( {}}}, {}}} )", before, after));
}

// f32 eps, s64 n, bool flag, string name, array<s32>, {x: u8}: the sum of all and the name's length.
Error* Attributes(CallFrame* frame) {
  if (AnswersVersion(*frame)) return nullptr;
  std::string text;
  const auto describe = [&](const abi::Attributes& attributes, const auto& self) -> void {
    for (int64_t i = 0; i < attributes.size; ++i) {
      text += fmt::format("{}=", std::string_view(attributes.names[i]->data, attributes.names[i]->size));
      void* const value = attributes.values[i];
      switch (attributes.kinds[i]) {
        case abi::AttributeKind::kScalar: {
          const auto& scalar = *static_cast<abi::Scalar*>(value);
          text += fmt::format("{}:", static_cast<int>(scalar.type));
          if (scalar.type == abi::DataType::kF32)
            text += fmt::format("{}", *static_cast<float*>(scalar.value));
          if (scalar.type == abi::DataType::kF64)
            text += fmt::format("{}", *static_cast<double*>(scalar.value));
          if (scalar.type == abi::DataType::kS64)
            text += fmt::format("{}", *static_cast<int64_t*>(scalar.value));
          if (scalar.type == abi::DataType::kS8)
            text += fmt::format("{}", *static_cast<int8_t*>(scalar.value));
          if (scalar.type == abi::DataType::kU64)
            text += fmt::format("{}", *static_cast<uint64_t*>(scalar.value));
          if (scalar.type == abi::DataType::kPred)
            text += *static_cast<bool*>(scalar.value) ? "true" : "false";
          break;
        }
        case abi::AttributeKind::kArray: {
          const auto& array = *static_cast<abi::Array*>(value);
          text += fmt::format("{}:", static_cast<int>(array.type));
          if (reinterpret_cast<uintptr_t>(array.data) % 64 != 0) text += "bad address";
          for (size_t k = 0; k < array.size; ++k) {
            if (array.type == abi::DataType::kS32)
              text += fmt::format("{},", static_cast<int32_t*>(array.data)[k]);
            if (array.type == abi::DataType::kF64)
              text += fmt::format("{},", static_cast<double*>(array.data)[k]);
          }
          break;
        }
        case abi::AttributeKind::kString:
          text += fmt::format("'{}'", std::string_view(static_cast<abi::ByteSpan*>(value)->data,
                                                       static_cast<abi::ByteSpan*>(value)->size));
          break;
        case abi::AttributeKind::kDictionary:
          text += '{';
          self(*static_cast<abi::Attributes*>(value), self);
          text += '}';
      }
      text += ' ';
    }
  };
  describe(frame->attributes, describe);
  seen = text;
  return nullptr;
}

TEST_CASE("ffi: attributes of every kind, sorted by name", "[custom][ffi]") {
  const auto ops = OpsWith("attributes", Attributes);
  const auto called = [&](std::string_view config) {
    return Called(ops, CallProgram("attributes", {}, "u8[]", config), {});
  };
  CHECK(
      called(
          "{z = 1.5 : f32, a = -3, k = {y = 2 : i8, b = \"t\"}, d = 0.1, s = \"q\\22\\00\", t, u = false}") ==
      "0");
  CHECK(seen == std::string("a=5:-3 d=12:0.1 k={b='t' y=2:2 } s='q\"\0' t=1:true u=1:false z=11:1.5 ", 69));
  CHECK(called("{e = array<i32: 1, -2>, f = dense<0.5> : tensor<2xf64>, g = array<i32>, u = "
               "18446744073709551615 : ui64, v = 1 : i1}") == "0");
  CHECK(seen == "e=4:1,-2, f=12:0.5,0.5, g=4: u=9:18446744073709551615 v=1:true ");
  CHECK(called("{}") == "0");
  CHECK(seen.empty());
  // What XLA refuses as well.
  for (const auto& [config, what] :
       {std::pair{"{a = [1, 2]}", "'a' is a list"}, std::pair{"{a = f32}", "'a' is a type"},
        std::pair{"{a = 1.0 : f16}", "'a' is of type f16"},
        std::pair{"{k = {b = 1 : i4}}", "'k.b' is of type s4"},
        std::pair{"{a = array<i1: true>}", "'a' is an array of pred"},
        std::pair{"{a = dense<(1.0,2.0)> : tensor<1xcomplex<f32>>}", "'a' is an array of c64"},
        std::pair{"{a = }", "want a value"}}) {
    CHECK_THAT(called(config), Contains("exit 3") && Contains(what));
  }
}

template <ErrorCode code>
Error* Fail(CallFrame* frame) {
  return AnswersVersion(*frame) ? nullptr : NewError(*frame, code, "the text");
}
Error* Throw(CallFrame* frame) {
  if (AnswersVersion(*frame)) return nullptr;
  throw std::runtime_error("thrown");
}
Error* ThrowNumber(CallFrame* frame) {
  if (AnswersVersion(*frame)) return nullptr;
  throw 3;  // NOLINT
}

TEST_CASE("ffi: errors of handlers name target, stage and code; exceptions are errors", "[custom][ffi]") {
  const auto error = [](abi::Handler* handler) {
    return Called(OpsWith("t", handler), CallProgram("t", {}, "f32[]"), {});
  };
  CHECK_THAT(error(Fail<ErrorCode::kInvalidArgument>),
             Contains("exit 5: ") && Contains("ffi: target 't', execute: INVALID_ARGUMENT: the text"));
  CHECK_THAT(error(Fail<ErrorCode::kInternal>), Contains("exit 5: ") && Contains("INTERNAL: the text"));
  CHECK_THAT(error(Fail<ErrorCode::kUnimplemented>),
             Contains("exit 4: ") && Contains("UNIMPLEMENTED: the text"));
  CHECK_THAT(error(Fail<ErrorCode::kOk>), Contains("exit 5: ") && Contains("UNKNOWN: the text"));
  CHECK_THAT(error(Fail<static_cast<ErrorCode>(99)>),
             Contains("exit 5: ") && Contains("an unknown code: the text"));
  CHECK_THAT(error(Throw), Contains("exit 5: ") && Contains("an exception came out of the handler: thrown"));
  CHECK_THAT(error(ThrowNumber), Contains("exit 5: ") && Contains("an exception came out of the handler"));
  const std::string program = CallProgram("t", {}, "f32[]");
  for (const abi::HandlerBundle& bundle :
       {abi::HandlerBundle{Fail<ErrorCode::kNotFound>, nullptr, nullptr, Describe},
        abi::HandlerBundle{nullptr, Fail<ErrorCode::kNotFound>, nullptr, Describe},
        abi::HandlerBundle{nullptr, nullptr, Fail<ErrorCode::kNotFound>, Describe}}) {
    const std::string stage = bundle.instantiate != nullptr ? "instantiate"
                              : bundle.prepare != nullptr   ? "prepare"
                                                            : "initialize";
    CHECK_THAT(Called(OpsWith("t", bundle), program, {}),
               Contains(fmt::format("ffi: target 't', {}: NOT_FOUND: the text", stage)));
  }
}

template <int major, int minor>
Error* OfVersion(CallFrame* frame) {
  AnswersVersion(*frame, minor, major);
  return nullptr;
}
Error* Mute(CallFrame*) { return nullptr; }

TEST_CASE("ffi: registration asks for the version, and knows whose a target is", "[custom][ffi]") {
  const auto refusal = [](const abi::HandlerBundle& bundle, std::string_view target = "t") {
    FfiOps ops;
    const absl::Status status = ops.Register(target, bundle);
    CHECK(ops.empty() != status.ok());
    return status.ok() ? "" : fmt::format("exit {}: {}", ExitCodeOf(status), std::string(status.message()));
  };
  const auto execute = [](abi::Handler* handler) {
    return abi::HandlerBundle{nullptr, nullptr, nullptr, handler};
  };
  CHECK(refusal(execute(OfVersion<0, 3>)).empty());
  CHECK(refusal(execute(OfVersion<0, 1>)).empty());
  CHECK_THAT(refusal(execute(OfVersion<0, 4>)),
             Contains("exit 4: ") && Contains("version 0.4") && Contains("want 0.1 to 0.3"));
  CHECK_THAT(refusal(execute(OfVersion<1, 0>)), Contains("exit 4: ") && Contains("version 1.0"));
  CHECK_THAT(refusal(execute(OfVersion<0, 0>)), Contains("exit 4: ") && Contains("version 0.0"));
  CHECK_THAT(refusal(execute(Mute)), Contains("exit 5: ") && Contains("it says nothing"));
  CHECK_THAT(refusal(execute(nullptr)), Contains("exit 5: ") && Contains("no handler of stage execute"));
  CHECK_THAT(refusal({nullptr, OfVersion<0, 9>, nullptr, Describe}), Contains("prepare") && Contains("0.9"));
  CHECK_THAT(refusal(execute(Describe), ""), Contains("exit 5: ") && Contains("without a name"));
  for (const char* const target : {"TopK", "Sharding", "lapack_spotrf_ffi", "AllocateBuffer", "chlo.atan",
                                   "$x", "xla.sdy.GlobalToLocalShape", "check.expect_eq"}) {
    INFO(target);
    CHECK_THAT(refusal(execute(Describe), target), Contains("Assay itself defines"));
  }

  FfiOps ops;
  CHECK(ops.Register("a", execute(Describe)).ok());
  CHECK(ops.Register("a", execute(Describe)).ok());
  CHECK_THAT(std::string(ops.Register("a", execute(Attributes)).message()),
             Contains("registered already, with other handlers"));
  const Registration several[] = {{"b", "Host", execute(Describe)}, {"c", "CUDA", execute(Describe)}};
  CHECK_THAT(std::string(ops.Register(several).message()), Contains("platform 'CUDA'"));
  CHECK(ops.Find("b") == nullptr);
  CHECK(ops.Find("a") != nullptr);
}

TEST_CASE("ffi: what a call may not be is known when it is verified", "[custom][ffi]") {
  const auto ops = OpsWith("d", Describe);
  const auto refusal = [&](const std::string& text) {
    const absl::StatusOr<Program> program = ProgramWith(ops, text);
    return program.ok() ? ""
                        : fmt::format("exit {}: {}", ExitCodeOf(program.status()),
                                      std::string(program.status().message()));
  };
  CHECK(refusal(CallProgram("d", {"f32[2]"}, "f32[]")).empty());
  CHECK(refusal(CallProgram("d", {"f32[2]"}, "f32[]", "\"{a = 1 : i32}\"")).empty());
  CHECK_THAT(refusal(OpProgram("custom-call", {}, "f32[]", ", custom_call_target=\"d\"")),
             Contains("exit 4: ") && Contains("api_version") && Contains("API_VERSION_TYPED_FFI"));
  CHECK_THAT(refusal(CallProgram("d", {"f32[<=2]"}, "f32[]")),
             Contains("exit 4: ") && Contains("arrays of one size"));
  CHECK_THAT(refusal(CallProgram("d", {}, "opaque[]")),
             Contains("exit 4: ") && Contains("want arrays and tokens"));
}

TEST_CASE("ffi: plans name the target, and programs without one are as before", "[custom][ffi]") {
  const auto ops = OpsWith("twice", Twice<float>);
  const absl::StatusOr<Program> program = ProgramWith(ops, CallProgram("twice", {"f32[2]"}, "f32[2]"));
  REQUIRE(program.ok());
  const auto plan = program->PlanFor();
  REQUIRE(plan.ok());
  CHECK_THAT(PlanToText(**plan), Contains("ffi twice"));
  CHECK_THAT(Called(nullptr, CallProgram("twice", {"f32[2]"}, "f32[2]"), {"f32[2] {1, 2}"}),
             Contains("exit 4: ") && Contains("no custom call target twice"));
}

TEST_CASE("ffi: a handler in a computation whose calls are inlined is still one", "[custom][ffi]") {
  const std::string text = R"(HloModule m
f {
  x = f32[2] parameter(0)
  ROOT y = f32[2] custom-call(x), custom_call_target="twice", api_version=API_VERSION_TYPED_FFI
}
ENTRY e {
  x = f32[2] parameter(0)
  y = f32[2] call(x), to_apply=f
  ROOT z = f32[2] call(y), to_apply=f
})";
  CHECK(Called(OpsWith("twice", Twice<float>), text, {"f32[2] {1, 3}"}) == "{4, 12}");
}

Error* WriteTooMuch(CallFrame* frame) {
  if (AnswersVersion(*frame)) return nullptr;
  const abi::Buffer& y = ResultOf(*frame, 0);
  static_cast<volatile float*>(y.data)[SizeOf(y)] = 1;
  return nullptr;
}

TEST_CASE("ffi: guarded arrays see a handler that writes past its result", "[custom][ffi]") {
  const auto ops = OpsWith("t", WriteTooMuch);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    for (const int signal : {SIGSEGV, SIGABRT}) std::signal(signal, SIG_DFL);
    close(STDERR_FILENO);
    const GuardedArrays guarded(ArrayGuard::kBehind);
    RunOptions options;
    options.jobs = 1;
    static_cast<void>(
        RunWith(ops, CallProgram("t", {}, "f32[100]"), {}, EngineChoice::kReference, options).ok());
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status != 0);
}

Error* LeaveOtherRounding(CallFrame* frame) {
  if (AnswersVersion(*frame)) return nullptr;
  std::fesetround(FE_UPWARD);
  return nullptr;
}

TEST_CASE("ffi: the rounding that a handler leaves behind is nobody's", "[custom][ffi]") {
  const std::string text = R"(HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  zero = f32[2] custom-call(x), custom_call_target="leave", api_version=API_VERSION_TYPED_FFI
  y = f32[2] add(x, zero)
  tiny = f32[] constant(1e-20)
  t = f32[2] broadcast(tiny), dimensions={}
  ROOT z = f32[2] add(y, t)
})";
  CHECK(Called(OpsWith("leave", LeaveOtherRounding), text, {"f32[2] {1, -3}"}) == "{1, -3}");
}

TEST_CASE("ffi: a handler in a loop and in a called computation gets each iteration's values",
          "[custom][ffi]") {
  const std::string text = R"(HloModule m
body {
  s = (s32[], f32[20]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[20] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[20] custom-call(x), custom_call_target="twice", api_version=API_VERSION_TYPED_FFI
  ROOT t = (s32[], f32[20]) tuple(j, y)
}
condition {
  s = (s32[], f32[20]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(10)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY e {
  z = s32[] constant(0)
  o = f32[] constant(1)
  x = f32[20] broadcast(o), dimensions={}
  s = (s32[], f32[20]) tuple(z, x)
  w = (s32[], f32[20]) while(s), condition=condition, body=body
  r = f32[20] get-tuple-element(w), index=1
  ROOT f = f32[1] slice(r), slice={[19:20]}
})";
  CHECK(Called(OpsWith("twice", Twice<float>), text, {}) == "{1024}");
}

}  // namespace
}  // namespace assay::custom::ffi
