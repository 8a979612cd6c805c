// Result shapes that are left out: each instruction beside the shape, layout included, that the HLO parser of
// jaxlib 0.10.2 infers for it.
#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "evaluator/verify.h"
#include "fmt/format.h"
#include "hlo/text/parser.h"
#include "hlo/text/printer.h"
#include "shape/shape_text.h"

namespace assay {
namespace {

constexpr char kBefore[] = R"hlo(HloModule left_out
addf { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT r = f32[] add(a,b) }
add8 { a = s32[] parameter(0)
 b = s32[] parameter(1)
 ROOT r = s32[] add(a,b) }
cmp { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT r = pred[] compare(a,b), direction=LT }
cmp2 { a = f32[] parameter(0)
 b = f32[] parameter(1)
 c = s32[] parameter(2)
 d = s32[] parameter(3)
 ROOT r = pred[] compare(a,b), direction=LT }
ge { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT r = pred[] compare(a,b), direction=GE }
addff { a = f32[] parameter(0)
 b = f32[] parameter(1)
 c = f32[] parameter(2)
 d = f32[] parameter(3)
 q = f32[] add(a,c)
 w = f32[] add(b,d)
 ROOT r = (f32[], f32[]) tuple(q,w) }
cmps { a = s4[] parameter(0)
 b = s4[] parameter(1)
 ROOT r = pred[] compare(a,b), direction=LT }
scanf { a = f32[2] parameter(0)
 b = f32[2] parameter(1)
 q = f32[2] add(a,b)
 ROOT r = (f32[2], f32[2]) tuple(q,q) }
wcond { a = f32[2,4]{0,1} parameter(0)
 ROOT r = pred[] constant(false) }
negf { a = f32[] parameter(0)
 ROOT r = f32[] negate(a) }
cd { p = f32[2,4]{1,0} parameter(0)
 ROOT r = f32[2,4]{1,0} negate(p) }
cc { p = f32[2,4]{0,1} parameter(0)
 ROOT r = f32[2,4]{0,1} negate(p) }
ENTRY e {
 f = f32[2,4]{0,1} parameter(0)
 g = f32[2,4]{1,0} parameter(1)
 h = f32[2,4]{0,1:T(2,4)S(3)} parameter(2)
 p = pred[2,4]{0,1} parameter(3)
 s = s4[2,4]{0,1:E(4)} parameter(4)
 ss = s4[2,4]{1,0:E(4)} parameter(5)
 i = s32[2,4]{0,1} parameter(6)
 c = c64[2,4]{0,1} parameter(7)
 f3 = f32[2,3,4]{0,2,1} parameter(8)
 f3t = f32[2,3,4]{0,2,1:T(2,4)S(2)} parameter(9)
 s3 = s4[2,3,4]{0,2,1:E(4)} parameter(10)
 z = f32[] parameter(11)
 zi = s32[] parameter(12)
 pp = pred[] parameter(13)
 v = f32[4]{0:T(128)} parameter(14)
 idx = s32[2,1] parameter(15)
 ups = f32[2,4]{0,1} parameter(16)
 uu = f32[2]{0} parameter(17)
 sq = f32[3,2,2]{0,2,1} parameter(18)
 pt = pred[2,4]{1,0:T(2,128)S(5)} parameter(19)
 n4 = s4[2,4]{0,1} parameter(20)
 t8 = f8e4m3fn[2,4]{0,1:E(8)} parameter(21)
 p3c = c64[2,3,4]{0,2,1} parameter(22)
 sqs = f32[3,2,2]{0,1,2:S(2)} parameter(23)
 tt = (f32[2,4]{0,1:T(8,128)}, f32[]) parameter(24)
 f8 = f8e5m2[2,4]{1,0} parameter(25)
 f4 = f4e2m1fn[2,4]{1,0:E(4)} parameter(26)
 h2 = f32[2,4]{0,1:S(1)} parameter(27)
 hl = f32[2,4]{0,1:L(512)E(32)S(1)SC(1:2)M(8)} parameter(28)
 ct = c64[2,4]{0,1:T(2,4)L(16)E(64)} parameter(29)
 pdyn = pred[<=2,4]{0,1} parameter(30)
 spl = f32[2,4]{0,1:SC(0:1)} parameter(31)
 tok = token[] parameter(32)
 gs = s32[2] parameter(33)
 dyn = f32[<=2,4]{0,1} parameter(34)
)hlo";

constexpr std::pair<const char*, const char*> kInferred[] = {
    {R"(negate(f))", "f32[2,4]{0,1}"},
    {R"(negate(h))", "f32[2,4]{0,1:T(2,4)S(3)}"},
    {R"(negate(s))", "s4[2,4]{0,1:E(4)}"},
    {R"(abs(c))", "f32[2,4]{0,1}"},
    {R"(abs(f))", "f32[2,4]{0,1}"},
    {R"(is-finite(f))", "pred[2,4]{0,1}"},
    {R"(is-finite(h))", "pred[2,4]{0,1:T(2,4)S(3)}"},
    {R"(not(p))", "pred[2,4]{0,1}"},
    {R"(not(s))", "s4[2,4]{0,1:E(4)}"},
    {R"(popcnt(s))", "s4[2,4]{0,1:E(4)}"},
    {R"(real(c))", "f32[2,4]{0,1}"},
    {R"(imag(c))", "f32[2,4]{0,1}"},
    {R"(sign(f))", "f32[2,4]{0,1}"},
    {R"(copy(h))", "f32[2,4]{0,1:T(2,4)S(3)}"},
    {R"(tanh(h))", "f32[2,4]{0,1:T(2,4)S(3)}"},
    {R"(tanh(f), result_accuracy={mode=highest})", "f32[2,4]{0,1}"},
    {R"(count-leading-zeros(s))", "s4[2,4]{0,1:E(4)}"},
    {R"(add(f,g))", "f32[2,4]{0,1}"},
    {R"(add(g,f))", "f32[2,4]{1,0}"},
    {R"(add(h,f))", "f32[2,4]{0,1:T(2,4)S(3)}"},
    {R"(add(f,h))", "f32[2,4]{0,1}"},
    {R"(add(s,s))", "s4[2,4]{0,1:E(4)}"},
    {R"(add(s,ss))", "s4[2,4]{0,1:E(4)}"},
    {R"(add(ss,s))", "s4[2,4]{1,0:E(4)}"},
    {R"(complex(f,f))", "c64[2,4]{0,1}"},
    {R"(complex(f,g))", "c64[2,4]{0,1}"},
    {R"(complex(h,g))", "c64[2,4]{0,1:T(2,4)S(3)}"},
    {R"(compare(f,g), direction=LT)", "pred[2,4]{0,1}"},
    {R"(compare(h,g), direction=LT)", "pred[2,4]{0,1:T(2,4)S(3)}"},
    {R"(compare(s,s), direction=LT)", "pred[2,4]{0,1}"},
    {R"(compare(ss,s), direction=LT)", "pred[2,4]{1,0}"},
    {R"(clamp(f,g,f))", "f32[2,4]{1,0}"},
    {R"(clamp(z,f,z))", "f32[2,4]{0,1}"},
    {R"(clamp(g,f,g))", "f32[2,4]{0,1}"},
    {R"(clamp(g,h,g))", "f32[2,4]{0,1:T(2,4)S(3)}"},
    {R"(clamp(z,h,z))", "f32[2,4]{0,1:T(2,4)S(3)}"},
    {R"(clamp(s,ss,s))", "s4[2,4]{1,0:E(4)}"},
    {R"(select(p,f,g))", "f32[2,4]{0,1}"},
    {R"(select(p,g,f))", "f32[2,4]{0,1}"},
    {R"(select(p,g,h))", "f32[2,4]{0,1}"},
    {R"(select(pp,h,g))", "f32[2,4]{0,1:T(2,4)S(3)}"},
    {R"(select(pp,s,s))", "s4[2,4]{0,1:E(4)}"},
    {R"(select(p,s,ss))", "s4[2,4]{0,1:E(4)}"},
    {R"(select(p,ss,s))", "s4[2,4]{0,1:E(4)}"},
    {R"(transpose(f), dimensions={1,0})", "f32[4,2]{1,0}"},
    {R"(transpose(g), dimensions={1,0})", "f32[4,2]{0,1}"},
    {R"(transpose(f3), dimensions={2,0,1})", "f32[4,2,3]{1,0,2}"},
    {R"(transpose(f3t), dimensions={2,0,1})", "f32[4,2,3]{1,0,2:T(2,4)S(2)}"},
    {R"(transpose(s3), dimensions={2,0,1})", "s4[4,2,3]{1,0,2:E(4)}"},
    {R"(transpose(s3), dimensions={0,1,2})", "s4[2,3,4]{0,2,1:E(4)}"},
    {R"(reverse(f3t), dimensions={2})", "f32[2,3,4]{0,2,1:T(2,4)S(2)}"},
    {R"(reverse(s3), dimensions={2})", "s4[2,3,4]{0,2,1:E(4)}"},
    {R"(pad(f,z), padding=1_1x0_0)", "f32[4,4]{1,0}"},
    {R"(pad(h,z), padding=1_1x0_0)", "f32[4,4]{1,0}"},
    {R"(concatenate(f,f), dimensions={0})", "f32[4,4]{1,0}"},
    {R"(concatenate(h,h), dimensions={0})", "f32[4,4]{1,0}"},
    {R"(concatenate(s,s), dimensions={0})", "s4[4,4]{1,0}"},
    {R"(tuple(h,s))", "(f32[2,4]{0,1:T(2,4)S(3)}, s4[2,4]{0,1:E(4)})"},
    {R"(reduce(f3,z), dimensions={1}, to_apply=addf)", "f32[2,4]{1,0}"},
    {R"(reduce(f3t,z), dimensions={1}, to_apply=addf)", "f32[2,4]{1,0}"},
    {R"(reduce-window(h,z), window={size=1x2}, to_apply=addf)", "f32[2,3]{1,0}"},
    {R"(select-and-scatter(h,h,z), window={size=1x1}, select=ge, scatter=addf)", "f32[2,4]{0,1:T(2,4)S(3)}"},
    {R"(map(f,g), dimensions={0,1}, to_apply=addf)", "f32[2,4]{1,0}"},
    {R"(map(h,h), dimensions={0,1}, to_apply=addf)", "f32[2,4]{1,0}"},
    {R"(sort(f), dimensions={0}, to_apply=cmp)", "f32[2,4]{0,1}"},
    {R"(sort(h), dimensions={0}, to_apply=cmp)", "f32[2,4]{0,1:T(2,4)S(3)}"},
    {R"(sort(h,i), dimensions={0}, to_apply=cmp2)", "(f32[2,4]{0,1:T(2,4)S(3)}, s32[2,4]{0,1})"},
    {R"(topk(f), k=2)", "(f32[2,2]{1,0}, s32[2,2]{1,0})"},
    {R"(topk(h), k=2)", "(f32[2,2]{1,0}, s32[2,2]{1,0})"},
    {R"(dot(f,f), lhs_contracting_dims={0}, rhs_contracting_dims={0})", "f32[4,4]{1,0}"},
    {R"(dot(h,h), lhs_contracting_dims={0}, rhs_contracting_dims={0})", "f32[4,4]{1,0}"},
    {R"(dot(s,s), lhs_contracting_dims={0}, rhs_contracting_dims={0})", "s4[4,4]{1,0}"},
    {R"(convolution(h,g), dim_labels=bf_oi->bf)", "f32[2,2]{1,0}"},
    {R"(gather(f,idx), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,4})",
     "f32[2,4]{1,0}"},
    {R"(scatter(f,idx,ups), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=addf)",
     "f32[2,4]{0,1}"},
    {R"(scatter(h,idx,ups), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=addf)",
     "f32[2,4]{0,1:T(2,4)S(3)}"},
    {R"(get-dimension-size(f), dimensions={0})", "s32[]"},
    {R"(set-dimension-size(f,zi), dimensions={0})", "f32[<=2,4]{0,1}"},
    {R"(set-dimension-size(h,zi), dimensions={0})", "f32[<=2,4]{0,1:T(2,4)S(3)}"},
    {R"(set-dimension-size(s,zi), dimensions={0})", "s4[<=2,4]{0,1:E(4)}"},
    {R"(batch-norm-training(f3,v,v), epsilon=0.1, feature_index=2)",
     "(f32[2,3,4]{0,2,1}, f32[4]{0}, f32[4]{0})"},
    {R"(batch-norm-inference(f3,v,v,v,v), epsilon=0.1, feature_index=2)", "f32[2,3,4]{0,2,1}"},
    {R"(batch-norm-grad(f3,v,v,v,f3), epsilon=0.1, feature_index=2)",
     "(f32[2,3,4]{0,2,1}, f32[4]{0}, f32[4]{0})"},
    {R"(fft(c), fft_type=FFT, fft_length={4})", "c64[2,4]{0,1}"},
    {R"(fft(f), fft_type=RFFT, fft_length={4})", "c64[2,3]{0,1}"},
    {R"(fft(c), fft_type=IRFFT, fft_length={6})", "f32[2,6]{0,1}"},
    {R"(fft(h), fft_type=RFFT, fft_length={4})", "c64[2,3]{0,1:T(2,4)S(3)}"},
    {R"(triangular-solve(sq,sq), left_side=true, lower=true, transpose_a=NO_TRANSPOSE)", "f32[3,2,2]{0,2,1}"},
    {R"(cholesky(sq))", "f32[3,2,2]{0,2,1}"},
    {R"(add-dependency(h,tok))", "f32[2,4]{0,1:T(2,4)S(3)}"},
    {R"(call(f), to_apply=cc)", "f32[2,4]{0,1}"},
    {R"(conditional(pp,f,f), true_computation=cc, false_computation=cc)", "f32[2,4]{0,1}"},
    {R"(after-all(tok))", "token[]"},
    {R"(and(p,p))", "pred[2,4]{0,1}"},
    {R"(shift-left(s,s))", "s4[2,4]{0,1:E(4)}"},
    {R"(add(dyn,f))", "f32[<=2,4]{0,1}"},
    {R"(add(f,dyn))", "f32[<=2,4]{0,1}"},
    {R"(select(p,dyn,f))", "f32[<=2,4]{0,1}"},
    {R"(negate(dyn))", "f32[<=2,4]{0,1}"},
    {R"(ragged-dot(f,f3,gs), lhs_contracting_dims={1}, rhs_contracting_dims={2}, lhs_ragged_dims={0}, rhs_group_dims={0})",
     "f32[2,3]{1,0}"},
    {R"(mulhi(i,i))", "s32[2,4]{0,1}"},
    {R"(domain(h), domain={kind="sharding", entry={replicated}, exit={replicated}})",
     "f32[2,4]{0,1:T(2,4)S(3)}"},
    {R"(select(pt,g,f))", "f32[2,4]{1,0:T(2,128)S(5)}"},
    {R"(select(pt,ss,s))", "s4[2,4]{1,0:T(2,128)E(4)S(5)}"},
    {R"(select(p,n4,n4))", "s4[2,4]{0,1}"},
    {R"(select(p,n4,s))", "s4[2,4]{0,1}"},
    {R"(select(p,s,n4))", "s4[2,4]{0,1:E(4)}"},
    {R"(negate(n4))", "s4[2,4]{0,1}"},
    {R"(add(n4,s))", "s4[2,4]{0,1}"},
    {R"(add(s,n4))", "s4[2,4]{0,1:E(4)}"},
    {R"(transpose(n4), dimensions={1,0})", "s4[4,2]{1,0}"},
    {R"(is-finite(t8))", "pred[2,4]{0,1}"},
    {R"(clamp(z,g,f))", "f32[2,4]{1,0}"},
    {R"(clamp(z,z,z))", "f32[]"},
    {R"(compare(n4,n4), direction=LT)", "pred[2,4]{0,1}"},
    {R"(scatter(f,h,idx,ups,ups), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=addff)",
     "(f32[2,4]{0,1}, f32[2,4]{0,1:T(2,4)S(3)})"},
    {R"(select-and-scatter(f3,f3,z), window={size=1x1x1}, select=ge, scatter=addf)", "f32[2,3,4]{0,2,1}"},
    {R"(reverse(n4), dimensions={0})", "s4[2,4]{0,1}"},
    {R"(sort(n4), dimensions={0}, to_apply=cmps)", "s4[2,4]{0,1}"},
    {R"(set-dimension-size(n4,zi), dimensions={0})", "s4[<=2,4]{0,1}"},
    {R"(fft(p3c), fft_type=FFT, fft_length={3,4})", "c64[2,3,4]{0,2,1}"},
    {R"(fft(f), fft_type=RFFT, fft_length={2,4})", "c64[2,3]{0,1}"},
    {R"(cholesky(sqs))", "f32[3,2,2]{0,1,2:S(2)}"},
    {R"(triangular-solve(sq,sqs), left_side=true, lower=true, transpose_a=NO_TRANSPOSE)",
     "f32[3,2,2]{0,1,2:S(2)}"},
    {R"(get-tuple-element(tt), index=0)", "f32[2,4]{0,1:T(8,128)}"},
    {R"(select(p,f8,f8))", "f8e5m2[2,4]{0,1}"},
    {R"(negate(f4))", "f4e2m1fn[2,4]{1,0:E(4)}"},
    {R"(compare(f4,f4), direction=LT)", "pred[2,4]{1,0}"},
    {R"(add(h2,h))", "f32[2,4]{0,1:S(1)}"},
    {R"(negate(hl))", "f32[2,4]{0,1:L(512)E(32)S(1)SC(1:2)M(8)}"},
    {R"(transpose(hl), dimensions={1,0})", "f32[4,2]{1,0:L(512)E(32)S(1)SC(1:2)M(8)}"},
    {R"(transpose(dyn), dimensions={1,0})", "f32[4,<=2]{1,0}"},
    {R"(reverse(dyn), dimensions={1})", "f32[<=2,4]{0,1}"},
    {R"(transpose(h), dimensions={1,0})", "f32[4,2]{1,0:T(2,4)S(3)}"},
    {R"(imag(ct))", "f32[2,4]{0,1:T(2,4)L(16)}"},
    {R"(abs(ct))", "f32[2,4]{0,1:T(2,4)L(16)}"},
    {R"(real(f))", "f32[2,4]{0,1}"},
    {R"(imag(f))", "f32[2,4]{0,1}"},
    {R"(complex(hl,hl))", "c64[2,4]{0,1:L(512)S(1)SC(1:2)M(8)}"},
    {R"(fft(hl), fft_type=RFFT, fft_length={4})", "c64[2,3]{0,1:L(512)S(1)SC(1:2)M(8)}"},
    {R"(scan(f,uu), to_apply=scanf, dimensions={1}, num_carries=1)", "(f32[2,4]{1,0}, f32[2]{0})"},
    {R"(scan(h,uu), to_apply=scanf, dimensions={1}, num_carries=1)", "(f32[2,4]{1,0}, f32[2]{0})"},
    {R"(partition-id())", "u32[]"},
    {R"(while(f), condition=wcond, body=cc)", "f32[2,4]{0,1}"},
    {R"(conditional(pp,f,f), true_computation=cd, false_computation=cc)", "f32[2,4]{1,0}"},
    {R"(call(g), to_apply=cd)", "f32[2,4]{1,0}"},
    {R"(concatenate(f), dimensions={0})", "f32[2,4]{1,0}"},
    {R"(select(p,c,c))", "c64[2,4]{0,1}"},
    {R"(select(p,dyn,dyn))", "f32[<=2,4]{0,1}"},
    {R"(select(pdyn,f,f))", "f32[<=2,4]{0,1}"},
    {R"(clamp(z,dyn,f))", "f32[<=2,4]{0,1}"},
    {R"(negate(spl))", "f32[2,4]{0,1:SC(0:1)}"},
    {R"(dot(n4,n4), lhs_contracting_dims={0}, rhs_contracting_dims={0})", "s4[4,4]{1,0}"},
    {R"(map(f), to_apply=negf, dimensions={0,1})", "f32[2,4]{1,0}"},
};

TEST_CASE("verify: a result shape that is left out has the layout that XLA gives it", "[verify][layout]") {
  for (const auto& [instruction, wanted] : kInferred) {
    INFO(instruction);
    absl::StatusOr<Module> module = ParseHloText(fmt::format("{} ROOT x = {}\n}}\n", kBefore, instruction));
    INFO(module.status().message());
    REQUIRE(module.ok());
    const absl::StatusOr<VerifiedModule> verified = Verify(*std::move(module));
    INFO(verified.status().message());
    REQUIRE(verified.ok());
    const Shape& shape = *verified->module().entry_computation().root_instruction().shape;
    CHECK(ShapeToText(shape, LayoutText::kAlways) == wanted);
  }
}

}  // namespace
}  // namespace assay
