"""Small HLO texts, and whether the parser of jaxlib reads them.

Writes tests/hlo/text/verdicts.txt, and the texts themselves as tests/corpus/hlo_text/form_*: for each text
what the reference says (accept, reject or abort, where the whole process ends) and what Assay must say. Where
the two differ the text below says why. An abort counts as reject.

  python golden/oracles/hlo_text_verdicts.py      needs jaxlib 0.10.2; reruns are identical
"""
import os
import pathlib

from jaxlib import _hlo

# (text, reason why Assay decides otherwise or None)
TEXTS = []


def raw(text, differs=None):
    TEXTS.append((text, differs))


def entry(body, differs=None, header="HloModule m\n", before=""):
    raw(header + before + "ENTRY e {\n" + body + "\n}\n", differs)


def op(line, differs=None, before=""):
    """One instruction after the usual parameters."""
    entry("p = f32[4] parameter(0)\nq = f32[4] parameter(1)\ni = s32[] parameter(2)\nm = f32[4,4] parameter(3)\n"
          "z = f32[] parameter(4)\nROOT r = " + line, differs, before=before)


def sharded(value, differs=None):
    op("f32[4,4] negate(m), sharding=" + value, differs)


def groups(value, differs=None):
    op("f32[4] all-to-all(p), dimensions={0}, replica_groups=" + value, differs)


def header(attributes, differs=None):
    entry("p = f32[4] parameter(0)\nROOT r = f32[4] negate(p)", differs, "HloModule m" + attributes + "\n")


ADD = "add { a = f32[] parameter(0)\nb = f32[] parameter(1)\nROOT c = f32[] add(a, b) }\n"

# --- lexer
op("f32[4] negate(p) /* comment */ // more")
op("f32[4] negate(p) /* open")
op("f32[4] negate(p) / 2")
op("f32[4] /*index=5*/ negate( /* a */ p)")
op("f32[4] negate(%p)")
op("f32[4] negate(% p)")
op("f32[4] negate(%4)")
op("f32[4] negate(p) ; ")
op("f32[4] negate(p) $")
op("f32[4] negate(p) @")
op("f32[4] negate(p)\x00")
op("f32[4]\tnegate\r\n(p)")
entry("p=f32[] parameter(0)")
entry("%p=f32[] parameter(0)")
entry("p =f32[] parameter(0)")
entry("%p: = f32[] parameter(0)")
entry("p.1-x_ = f32[] parameter(0)")
entry("pred = f32[] parameter(0)")
entry("tuple = f32[] parameter(0)")
entry("buffer = f32[] parameter(0)")
entry("%f32 = f32[] parameter(0)")
entry("token = f32[] parameter(0)")
entry("__p = f32[] parameter(0)")
entry("__xla_p = f32[] parameter(0)")
entry("nan = f32[] parameter(0)")
entry("%nan = f32[] parameter(0)")
entry("true = f32[] parameter(0)")
entry("%true = f32[] parameter(0)")
entry("maximal = f32[] parameter(0)")
entry("p = f32[] parameter(00)")
entry("p = f32[] parameter(0x0)")
entry("p = f32[] parameter(-0)")
entry("p = f32[] parameter(-1)")
entry("p = f32[] parameter(18446744073709551616)")
entry("p = f32[] parameter(0.0)")
entry("ROOT ROOT p = f32[] parameter(0)")

# --- shapes
entry("p = f32[2]{} parameter(0)")
entry("p = f32[]{} parameter(0)")
entry("p = f32[2]{0} parameter(0)")
entry("p = f32[2]{1} parameter(0)", "a layout is a permutation (LAYOUT-1)")
entry("p = f32[2]{0,1} parameter(0)")
entry("p = f32[2,3]{0,1} parameter(0)")
entry("p = f32[2,3]{0,0} parameter(0)", "a layout is a permutation (LAYOUT-1)")
entry("p = f32[ 2 , 3 ] { 1, 0 } parameter(0)")
entry("p = f32[2,3]{1,0:T(2,128)} parameter(0)")
entry("p = f32[2,3]{1,0:T(2,128)(2,1)} parameter(0)")
entry("p = f32[2,3]{1,0:T(2,*)} parameter(0)", "nothing to merge into (LAYOUT-4)")
entry("p = f32[2,3]{1,0:L(4)} parameter(0)")
entry("p = f32[2,3]{1,0:T(8)L(4)E(32)S(5)} parameter(0)")
entry("p = f32[2,3]{1,0:S(5)E(32)} parameter(0)")
entry("p = f32[2,3]{1,0:SC(0:1)} parameter(0)")
entry("p = f32[2,3]{1,0:M(8)} parameter(0)")
entry("p = f32[2,3]{1,0:#(u32)*(u32)} parameter(0)")
entry("p = f32[<=2] parameter(0)")
entry("p = f32[?] parameter(0)")
entry("p = f32[?,<=3,4] parameter(0)")
entry("p = f32[-2] parameter(0)")
entry("p = f32[0] parameter(0)")
entry("p = f32[2,] parameter(0)")
entry("p = f32 parameter(0)")
entry("p = F32[] parameter(0)")
entry("p = f33[] parameter(0)")
entry("p = (f32[], s32[2]) parameter(0)")
entry("p = () parameter(0)")
entry("p = ((f32[]), ()) parameter(0)")
entry("p = (f32[],) parameter(0)")
entry("p = token[] parameter(0)")
entry("p = token parameter(0)")
entry("p = opaque[] parameter(0)")
entry("p = b(f32[2]) parameter(0)")
entry("p = b((f32[2])) parameter(0)")
entry("p = f32[2]{0:P(f32[2])} parameter(0)")
for t in ["s1", "s2", "s4", "u1", "u2", "u4", "f8e5m2", "f8e4m3", "f8e4m3fn", "f8e4m3b11fnuz", "f8e3m4",
          "f8e5m2fnuz",
          "f8e4m3fnuz", "f4e2m1fn", "f8e8m0fnu", "f6e3m2fn", "f6e2m3fn", "c64", "c128", "bf16", "opaque_type",
          "tuple"]:
    entry("p = %s[2] parameter(0)" % t)

# --- modules and computations
raw("")
raw("HloModule")
raw("HloModule m")
raw("HloModule m\nENTRY e { }")
raw("HloModule m, \nENTRY e { p = f32[] parameter(0) }")
raw("HloModule %m\nENTRY %e { %p = f32[] parameter(0) }")
raw("HloModule m:\nENTRY e { p = f32[] parameter(0) }")
raw("HloModule m e { p = f32[] parameter(0) }")
raw("ENTRY e { p = f32[] parameter(0) }")
raw("e { p = f32[] parameter(0) }")
raw("%e { p = f32[] parameter(0) }")
raw("%e (p: f32[]) -> f32[] { p = f32[] parameter(0) }", "headerless text may start with a signature")
raw("ENTRY e (p: f32[]) -> f32[] { p = f32[] parameter(0) }")
raw("ENTRY e (%p f32[]) -> f32[] { p = f32[] parameter(0) }")
raw("ENTRY e (nonsense: s32[7], more: pred[]) -> f32[] { p = f32[] parameter(0) }")
raw("ENTRY e (p: f32[]) -> f32[2] { p = f32[] parameter(0) }")
raw("ENTRY e (p: f32[2]) -> f32[<=2] { p = f32[2] parameter(0) }")
raw("ENTRY e (p: f32[]) { p = f32[] parameter(0) }")
raw("ENTRY e -> f32[] { p = f32[] parameter(0) }")
raw("ENTRY e { p = f32[] parameter(0) } ENTRY g { p = f32[] parameter(0) }")
raw("ENTRY e { p = f32[] parameter(0) } g { p = f32[] parameter(0) }")
raw("HloModule m f { p = f32[] parameter(0) } f { p = f32[] parameter(0) }")
raw("HloModule m f { p = f32[] parameter(0) } g { p = f32[] parameter(0) }")
raw("HloModule m f { p = f32[] parameter(0) }, execution_thread=\"t\"\n ENTRY g { p = f32[] parameter(0) }")
raw("HloModule m f { p = f32[] parameter(0) }, execution_thread=t\n ENTRY g { p = f32[] parameter(0) }")
raw("HloModule m f { p = f32[] parameter(0) }, foo=\"t\"\n ENTRY g { p = f32[] parameter(0) }")
raw("HloModule m f { p = f32[] parameter(0) }\n garbage")
raw("HloModule m ENTRY e { ROOT p = f32[] parameter(0) ROOT q = f32[] parameter(1) }")
raw("HloModule m ENTRY e { ROOT p = f32[] parameter(0) q = f32[] parameter(1) }")
raw("HloModule m ENTRY e { p = f32[] parameter(0) p = f32[] parameter(1) }")
raw("HloModule m ENTRY e { p = f32[] parameter(1) q = f32[] parameter(0) }")
raw("HloModule m ENTRY e { p = f32[] parameter(1) }")
raw("HloModule m ENTRY e { p = f32[] parameter(0) q = f32[] parameter(0) }")
raw("HloModule m ENTRY e { a = f32[] negate(p) p = f32[] parameter(0) }")
raw("HloModule m ENTRY e { a = f32[] negate(a) }")
raw("HloModule m ENTRY e { p = f32[] parameter(0), q = f32[] parameter(1) }")
raw("HloModule m ENTRY e { p = parameter(0) }")
raw("HloModule m ENTRY e { p = f32[] nonsense(0) }")
raw("HloModule m ENTRY e { p = f32[] }")
raw("HloModule m ENTRY e { = f32[] parameter(0) }")
raw("HloModule m ENTRY e { p f32[] parameter(0) }")
raw("HloModule m ENTRY e { p = f32[] parameter(0 }")
raw("HloModule m ENTRY e { p = f32[] parameter() }")
raw("HloModule m ENTRY e { p = f32[] parameter(0)")
raw("HloModule m ENTRY e  p = f32[] parameter(0) }")

# --- header
header("")
header(", is_scheduled=true")
header(", is_scheduled=1")
header(", is_scheduled=true, is_scheduled=true")
header(", is_scheduled = true")
header(", unknown_attribute=true")
header(", replica_count=2, num_partitions=2")
header(", replica_count=0", "no run has 0 replicas")
header(", replica_count=-1", "nor fewer than 0")
header(", input_output_alias={ {}: (0, {}, may-alias) }")
header(", input_output_alias={ {}: (0, {}, must-alias) }")
header(", input_output_alias={ {}: (0, {}) }")
header(", input_output_alias={ {}: 0 }")
header(", input_output_alias={ {}: (0, {}, never-alias) }")
header(", buffer_donor={ (0, {}) }")
header(", buffer_donor={ 0 }")
header(", alias_passthrough_params=true")
header(", entry_computation_layout={(f32[4]{0})->f32[4]{0}}")
header(", entry_computation_layout={(f32[4])->f32[4]}")
header(", entry_computation_layout={(f32[4]{0})->f32[4]{0}")
header(", frontend_attributes={a=\"b\",c={\"d\":1}}")
header(", frontend_attributes={a = \"b\"}")
header(", frontend_attributes={}")
header(", allow_spmd_sharding_propagation_to_parameters=true")
header(", allow_spmd_sharding_propagation_to_parameters={true}")
header(", allow_spmd_sharding_propagation_to_output={true,false}")
header("\n\nFileNames\n1 \"a\"\n\nFunctionNames\n1 \"f\"\n\nFileLocations\n"
       "1 {file_name_id=1 function_name_id=1 line=1 end_line=1 column=1 end_column=2}\n\n"
       "StackFrames\n1 {file_location_id=1 parent_frame_id=1}\n")
header("\n\nFileNames\n1 \"a\"\n")

# --- single instructions
raw("f32[2] add(f32[2] a, f32[2] b)")
raw("x = f32[2] add(f32[2] a, f32[2] b)")
raw("%x = f32[2] add(f32[2] %a, f32[2] %a)")
raw("f32[2] add(f32[2], f32[2])")
raw("f32[2] add(a, b)")
raw("f32[2] add(f32[2] a, a)")
raw("add(f32[2] a, f32[2] b)")
raw("ROOT x = f32[2] add(f32[2] a, f32[2] b)")
raw("f32[2] add(f32[2] a, f32[2] b) f32[2] add(f32[2] a, f32[2] b)")
raw("x = add(f32[2] a, f32[2] b)")
raw("f32[] reduce(f32[4] a, f32[] b), dimensions={0}, to_apply={ x = f32[] parameter(0) y = f32[] parameter(1) "
    "ROOT z = f32[] add(x, y) }")
raw("f32[] parameter(0)")
raw("f32[] constant(1)")
raw("f32[2] add(f32[2] a, f32[2] negate(f32[2] a))")

# --- operands
op("f32[4] add(p, q)")
op("f32[4] add(p q)")
op("f32[4] add(p, q,)")
op("f32[4] add(,p)")
op("f32[4] add(p,,q)", "one comma stands between two operands")
op("f32[4] add(p, q,,)", "one comma may end the list")
op("f32[4] add(f32[4] p, f32[4]{0} q)")
op("f32[4] add(f32[5] p, q)")
op("f32[4] add(s32[4] p, q)")
op("f32[4] add(f32[<=4] p, q)")
op("f32[4] add(nope, q)")
op("f32[4] add(p, f32[4] constant({1,2,3,4}))")
op("f32[4] add(p, constant({1,2,3,4}))")
op("f32[4] add(p, negate(q))")
op("f32[4] add(p, negate(negate(q)))")
op("f32[4] add(p, f32[4] negate(q))")
op("f32[4] add(p, broadcast(z))")
op("f32[4] add(p, f32[4] broadcast(z))")
op("f32[4] add(p, f32[4] reverse(q), dimensions={0})")
op("f32[4] add(p#0, q)")
op("negate(p)")
op("f32[4] negate p")
op("(f32[4], f32[4]) tuple(p, q)")
op("tuple()")

# --- attributes by form
op("f32[4] negate(p), nonsense=1")
op("f32[4] negate(p), metadata={op_name=\"a\"}, metadata={op_name=\"a\"}")
op("f32[4,4] transpose(m), dimensions={1,0}")
op("f32[4,4] transpose(m), dimensions={1,0,}")
op("f32[4,4] transpose(m), dimensions={1 0}")
op("f32[4,4] transpose(m), dimensions=1,0")
op("f32[4,4] transpose(m), dimensions={1,0}, dimensions={1,0}")
op("f32[4,4] transpose(m), dimensions ={1,0}")
op("f32[4,4] transpose(m), dimensions= {1,0}")
op("f32[2,4] slice(m), slice={[0:2], [0:4:1]}")
op("f32[2,4] slice(m), slice={[0:2:1], [0:4:1]}")
op("f32[2,4] slice(m), slice={[0:2], 0:4}")
op("f32[2,4] slice(m), slice={0:2, 0:4}")
op("f32[7] pad(p, z), padding=1_2")
op("f32[10] pad(p, z), padding=1_2_1")
op("f32[3] pad(p, z), padding=-1_0")
op("f32[3] pad(p, z), padding=1")
op("f32[3] pad(p, z), padding={1_2}")
op("f32[] pad(z, z), padding=", "an empty value is a scalar's padding")
op("pred[4] compare(p, q), direction=LT")
op("pred[4] compare(p, q), direction=lt")
op("pred[4] compare(p, q), direction=LT, type=TOTALORDER")
op("pred[4] compare(p, q), direction=LT, type=FANCY")
op("pred[4] compare(p, q), direction=\"LT\"")
op("f32[4,4] dot(m, m), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={HIGH,default}")
op("f32[4,4] dot(m, m), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={fast,default}")
op("f32[4,4] dot(m, m), lhs_contracting_dims={1}, rhs_contracting_dims={0}, algorithm=dot_f32_f32_f32")
op("f32[4,4] dot(m, m), lhs_contracting_dims={1}, rhs_contracting_dims={0}, algorithm=DOT_F32_F32_F32")
op("f32[4,4] dot(m, m), lhs_contracting_dims={1}, rhs_contracting_dims={0}, algorithm=dot_f31")
op("f32[3] reduce-window(p, z), window={size=2}, to_apply=add", before=ADD)
op("f32[4] reduce-window(p, z), window={size=2 pad=0_1}, to_apply=add", before=ADD)
op("f32[4,4] reduce-window(m, z), window={size=2x1 stride=1x1 pad=0_1x0_0 lhs_dilate=1x1 rhs_dilate=1x1 "
   "rhs_reversal=0x1}, to_apply=add", before=ADD)
op("f32[4,4] reduce-window(m, z), window={pad=0_1x0_0 size=2x1}, to_apply=add", before=ADD)
op("f32[4,4] reduce-window(m, z), window={size=2x1, pad=0_1x0_0}, to_apply=add", before=ADD)
op("f32[4,4] reduce-window(m, z), window={size=2x1 size=2x1}, to_apply=add", before=ADD)
op("f32[4,4] reduce-window(m, z), window={size=2x1 stride=1}, to_apply=add", before=ADD)
op("f32[4,4] reduce-window(m, z), window={size=2x1 foo=1x1}, to_apply=add", before=ADD)
op("f32[4] reduce-window(p, z), window={size=2 pad=0_1_1}, to_apply=add", before=ADD)
op("f32[4] reduce-window(p, z), window={size=2 pad=-1_1}, to_apply=add", before=ADD)
op("f32[4] reduce-window(p, z), window={size=-2}, to_apply=add", "a window has no negative size", before=ADD)
op("f32[] reduce-window(z, z), window={}, to_apply=add", before=ADD)
op("f32[4] reduce-window(p, z), window={stride=2}, to_apply=add", before=ADD)
op("f32[] reduce(p, z), dimensions={0}, to_apply=add", before=ADD)
op("f32[] reduce(p, z), dimensions={0}, to_apply=%add", before=ADD)
op("f32[] reduce(p, z), dimensions={0}, to_apply=sub", before=ADD)
op("f32[] reduce(p, z), dimensions={0}, to_apply={ a = f32[] parameter(0) b = f32[] parameter(1) "
   "ROOT c = f32[] add(a, b) }")
op("f32[] reduce(p, z), dimensions={0}, to_apply={ }")
op("f32[4] conditional(i, p, q), branch_computations={f, f}",
   before="f { a = f32[4] parameter(0) }\n")
op("f32[4] conditional(i, p, q), branch_computations={f, { a = f32[4] parameter(0) }}",
   before="f { a = f32[4] parameter(0) }\n")
op("f32[4] conditional(i, p, q), branch_computations=f", before="f { a = f32[4] parameter(0) }\n")
CONV = "f32[1,1,4,4] convolution(x, y), window={size=1x1}, dim_labels="
for labels in ["bf01_oi01->bf01", "b01f_01io->b01f", "01bf_01io->01bf", "bf01_oi01->bf0", "bf01_oi0->bf01",
               "bf00_oi01->bf01", "bb01_oi01->bf01", "bf01_io10->fb01", "bf0?1_oi01->bf01", "bf01"]:
    entry("x = f32[1,1,4,4] parameter(0)\ny = f32[1,1,1,1] parameter(1)\nROOT c = " + CONV + labels)
entry("x = f32[1,1,4,4] parameter(0)\ny = f32[1,1,1,1] parameter(1)\nROOT c = " + CONV + "bf12_oi12->bf12",
      "spatial digits start at 0")
op("f32[4] fft(p), fft_type=FFT, fft_length={4}")
op("f32[4] fft(p), fft_type=fft, fft_length={4}")
op("f32[4] rng(z, z), distribution=rng_uniform")
op("f32[4] rng(z, z), distribution=RNG_UNIFORM")
op("f32[4] rng(z, z), distribution=gaussian")
op("f32[4] fusion(p), kind=kLoop, calls={ a = f32[4] parameter(0) ROOT b = f32[4] negate(a) }")
op("f32[4] fusion(p), kind=kCustom, calls={ a = f32[4] parameter(0) ROOT b = f32[4] negate(a) }")
op("f32[4] fusion(p), kind=kFast, calls={ a = f32[4] parameter(0) ROOT b = f32[4] negate(a) }")
op("f32[4] fusion(p), kind=kLoop, calls={ a = f32[4] parameter(0) ROOT b = f32[4] negate(a) }, "
   "output_to_operand_aliasing={{}: (0, {})}")
op("f32[4] custom-call(p), custom_call_target=\"t\"")
op("f32[4] custom-call(p), custom_call_target=t")
op("f32[4] custom-call(p), custom_call_target='t'")
op("f32[4] custom-call(p), custom_call_target=\"t\\q\"")
op("f32[4] custom-call(p), custom_call_target=\"t\\x41\\101\\u00e9\"")
op("f32[4] custom-call(p), custom_call_target=\"t\nu\"")
op("f32[4] custom-call(p), custom_call_target=\"t")
op("f32[4] custom-call(p), custom_call_target=\"t\", api_version=API_VERSION_TYPED_FFI")
op("f32[4] custom-call(p), custom_call_target=\"t\", api_version=api_version_original")
op("f32[4] custom-call(p), custom_call_target=\"t\", api_version=API_VERSION_UNSPECIFIED")
op("f32[4] custom-call(p), custom_call_target=\"t\", api_version=2")
op("f32[4] custom-call(p), custom_call_target=\"t\", schedule=SCHEDULE_LATEST, custom_call_has_side_effect=true")
op("f32[4] custom-call(p), custom_call_target=\"t\", padding_type=PADDING_SAME")
op("f32[4] custom-call(p), custom_call_target=\"t\", literal=s32[2]{0} {1,2}")
op("f32[4] custom-call(p), custom_call_target=\"t\", literal=s32[2] {1,2}")
op("f32[4] custom-call(p), custom_call_target=\"t\", literal=(s32[2]{0} {1,2}, f32[] 3)")
op("f32[4] custom-call(p), custom_call_target=\"t\", operand_layout_constraints={f32[4]{0}}")
op("f32[4] custom-call(p), custom_call_target=\"t\", operand_layout_constraints={f32[4]}")
op("f32[4] tanh(p), result_accuracy={mode=highest}")
op("f32[4] tanh(p), result_accuracy={mode=lowest}")
op("f32[4] tanh(p), result_accuracy={tolerance={atol=0.5,rtol=1e-3,ulps=2}}")
op("f32[4] tanh(p), result_accuracy={tolerance={rtol=1e-3}}")
op("f32[4] tanh(p), result_accuracy={tolerance={}}")
op("f32[4] rng-get-and-update-state(), delta=1")
op("f32[4] domain(p), domain={kind=\"sharding\", entry={replicated}, exit={maximal device=0}}")

# --- common attributes
op("f32[4] negate(p), metadata={}")
op("f32[4] negate(p), metadata={op_type=\"a\" op_name=\"b\" source_file=\"c\" source_line=1}")
op("f32[4] negate(p), metadata={op_type=\"a\", op_name=\"b\"}")
op("f32[4] negate(p), metadata={op_nonsense=\"a\"}")
op("f32[4] negate(p), metadata={op_name=a}")
op("f32[4] negate(p), metadata={op_name=\"a\" op_name=\"b\"}")
op("f32[4] negate(p), metadata={profile_type={1,3}}")
op("f32[4] negate(p), metadata={profile_type={9}}")
op("f32[4] negate(p), metadata={stack_frame_id=2 source_end_line=3 source_column=4 source_end_column=5}")
op("f32[4] negate(p), frontend_attributes={a=\"b\"}")
op("f32[4] negate(p), frontend_attributes={a=b}")
op("f32[4] negate(p), frontend_attributes={a={b = 1 : i32}}")
op("f32[4] negate(p), frontend_attributes={a=\"b\",a=\"c\"}", "a key written twice is a mistake")
op("f32[4] negate(p), backend_config=\"x\"")
op("f32[4] negate(p), backend_config={\"x\": \"}\"}")
op("f32[4] negate(p), backend_config={\"x\": {}")
op("f32[4] negate(p), backend_config=x")
op("f32[4] negate(p), control-predecessors={q}")
op("f32[4] negate(p), control-predecessors={%q, %p}")
op("f32[4] negate(p), control-predecessors={}")
op("f32[4] negate(p), control-predecessors={r}")
op("f32[4] negate(p), statistics={}")
op("f32[4] negate(p), statistics={visualizing_index=0,a=1.5}")
op("f32[4] negate(p), statistics={a=1.5}")
op("f32[4] negate(p), origin={{\"x\"}}")
op("f32[4] negate(p), origin={{\"x\" {0}}}")
op("f32[4] negate(p), origin={{}}")
op("f32[4] negate(p), origin={[synthetic_call]}")
op("f32[4] negate(p), origin={\"x\"}")

# --- shardings
for s in ["{replicated}", "{manual}", "{unknown}", "{unreduced}", "{maximal device=0}", "{device=0 maximal}",
          "{maximal}", "{device=0}", "{devices=[2,2]<=[4]}", "{devices=[2,2]0,1,2,3}", "{devices=[1,1]0}",
          "{devices=[1,1]<=[1]}", "{devices=[2,2]<=[2,2]T(1,0)}", "{devices=[2,2]<=[2,2]}",
          "{devices=[2,2,2]<=[8] last_tile_dim_replicate}", "{devices=[2,2,2]<=[8] last_tile_dims={manual}}",
          "{devices=[2,2,2]<=[8] last_tile_dims={wrong}}", "{replicated shard_as 1}",
          "{replicated shard_like 1}",
          "{shard_as 1}", "{replicated metadata={op_name=\"x\"}}",
          "{replicated metadata={{op_name=\"x\"},{}}}",
          "{{replicated}}", "{{{replicated}}}", "{replicated,manual}", "replicated", "{nonsense}",
          "{mesh[\"a\"=2,\"b\"=2], [{\"a\"},{\"b\"}]}", "{mesh[\"a\"=2,\"b\"=2] [{\"a\"},{\"b\"}]}",
          "{mesh[\"a\"=2,\"b\"=2], [{\"a\",?},{?}], replicated={\"b\"}}", "{mesh[\"a\"=2], replicated}",
          "{mesh[\"a\"=2]}", "{maximal_mesh[device_id=1]}", "{mesh[\"a\"=2,\"b\"=2], [{\"a\"},{\"c\"}]}",
          "{mesh[\"a\"=4], [{\"a\":(1)2},{\"a\":(2)2}]}",
          "{mesh[\"a\"=2,\"b\"=2],device_ids=(3,2,1,0) manual}"]:
    sharded(s)
sharded("{replicated manual}", "one sharding can't be two")
sharded("{devices=[2,2]0,1,2}", "the list must name as many devices as there are tiles")
sharded("{mesh[\"a\"=2] unreduced=sum}", "written by later releases")
sharded("{mesh[\"a\"=2,\"b\"=2] unreduced {\"a\"}}", "written by later releases")
sharded("{devices=[0,2]<=[0]}", "a tile count is at least 1")

# --- replica groups
for g in ["{}", "{{0,1},{2,3}}", "{{0,1},{2}}", "{{}}", "{0,1}", "[2,2]<=[4]", "[2,2]<=[2,2]T(1,0)",
          "[2,2]<=[2,2]",
          "[2,2]<=[4]T(0)", "[4]<=[4]", "[2,2,1]<=[4]", "mesh[\"a\"=2,\"b\"=2] {\"a\"}",
          "mesh[\"a\"=2,\"b\"=2], {\"a\"}",
          "mesh[\"a\"=2,\"b\"=2], device_ids=(3,2,1,0) {\"a\"}",
          "mesh[\"a\"=2,\"b\"=4], device_ids=([2,4]T(1,0)) {\"a\"}",
          "mesh[\"a\"=2,\"b\"=4] {\"b\":(1)2}", "mesh[\"a\"=2,\"b\"=4] {\"c\"}",
          "mesh[\"a\"=2,\"b\"=4] {\"b\":(1)3}", "x"]:
    groups(g)
groups("[2,2]<=[5]", "the products must agree")
groups("[2,2]<=[2,2]T(1,1)", "T(...) is a permutation")
groups("mesh[\"a\"=2,\"b\"=4] {}", "groups of one device are allowed")

# --- async
ASYNC = "s = ((f32[4]), f32[4], u32[]) %s(p)%s\n"
for start, extra, done in [("negate-start", "", "negate-done(s)"), ("negate-start", "", "abs-done(s)"),
                           ("negate-start", ", async_execution_thread=\"t\"", "negate-done(s)"),
                           ("foo-start", "", "foo-done(s)"), ("negate-start", "", "negate-done(p)"),
                           ("negate-start", "", "async-done(s)"),
                           ("negate-start", ", calls=f", "negate-done(s)"),
                           ("negate-start", ", dimensions={0}", "negate-done(s)")]:
    differs = None
    if "dimensions" in extra:
        differs = "which op takes which attribute is the verifier's"
    entry("p = f32[4] parameter(0)\n" + ASYNC % (start, extra) + "ROOT d = f32[4] " + done, differs)
entry("p = f32[4] parameter(0)\ns = ((f32[4]), f32[4], u32[]) negate-start(p)\n"
      "u = ((f32[4]), f32[4], u32[]) negate-update(s)\nROOT d = f32[4] negate-done(u)")
entry("p = f32[4] parameter(0)\ns = (f32[4], f32[4]) negate-start(p)\nROOT d = f32[4] negate-done(s)")
entry("p = f32[4] parameter(0)\ns = f32[4] negate-start(p)\nROOT d = f32[4] negate-done(s)")
entry("p = f32[4] parameter(0)\ns = (f32[4], f32[4], u32[]) copy-start(p)\nROOT d = f32[4] copy-done(s)")
entry("p = f32[4] parameter(0)\ns = ((f32[4]), f32[4]) async-start(p), calls=f\n"
      "ROOT d = f32[4] async-done(s)",
      before="f { a = f32[4] parameter(0) ROOT b = f32[4] negate(a) }\n")

# --- constants
for shape, value in [("f32[]", "1"), ("f32[]", "1.5e3"), ("f32[]", "-.5"), ("f32[]", ".5"), ("f32[]", "+1"),
                     ("f32[]", "inf"), ("f32[]", "-inf"), ("f32[]", "nan"), ("f32[]", "nan(0x1)"),
                     ("f32[]", "nan(0x0)"),
                     ("f32[]", "true"), ("f32[]", "{1}"), ("f32[]", "1 2"), ("f32[]", ""),
                     ("f32[2]", "{1,2}"),
                     ("f32[2]", "{1 2}"), ("f32[2]", "{1,2,}"), ("f32[2]", "{1}"), ("f32[2]", "{1,2,3}"),
                     ("f32[2,2]", "{{1,2},{3,4}}"), ("f32[2,2]", "{1,2,3,4}"), ("f32[0,2]", "{}"),
                     ("f32[2,0]", "{{},{}}"),
                     ("f32[2]", "{...}"), ("f32[2,2]", "{...}"), ("f32[2,2]", "{{...}}"), ("pred[]", "true"),
                     ("pred[]", "1"), ("pred[]", "0.5"), ("s8[]", "127"), ("s8[]", "128"), ("u8[]", "-1"),
                     ("u8[]", "256"),
                     ("s32[]", "1.0"), ("c64[]", "(1,2)"), ("c64[]", "1"), ("(f32[], s32[])", "(1, 2)"),
                     ("(f32[], s32[])", "(1)"), ("()", "()"), ("token[]", ""), ("f32[<=2]", "{1,2}"),
                     ("f16[]", "65520"), ("f32[]", "1e400")]:
    entry("c = %s constant(%s)" % (shape, value))
entry("c = constant(1)")


# --- axes of meshes by number, and parts of axes
for a in ["{'0'}", "{'1'}", "{'2'}", "{'-1'}", "{'01'}", "{' 1'}", "{'1','a'}", "{'0','a'}", "{'1':(1)2}",
          "{'b':(1)4}", "{'b':(1)1}", "{'b':(2)2,'a'}", "{''}", "{'1.0'}"]:
    groups("mesh['a'=2,'b'=4] " + a)
groups("mesh['1'=2,'0'=4] {'0'}")
groups("mesh['1'=2,'x'=4] {'0'}")
groups("mesh['a'=2,'b'=4], device_ids=([4,2]T(1,0)) {'1'}")
for s in ["{mesh['a'=2,'b'=4], [{'1'}, {'0'}]}", "{mesh['a'=2,'b'=4], [{'1':(1)2}, {}], replicated={'0'}}",
          "{mesh['a'=2,'b'=4], [{'2'}, {}]}",
          "{mesh['a'=2,'b'=4], [{'b':(1)4}, {}]}", "{mesh['a'=2,'b'=4], [{'0'}, {'a'}]}"]:
    sharded(s)


def verdict(text):
    """accept, reject or abort, found in a process of its own."""
    pid = os.fork()
    if pid == 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 2)
        try:
            _hlo.hlo_module_from_text(text)
        except BaseException:
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    if not os.WIFEXITED(status):
        return "abort"
    return "accept" if os.WEXITSTATUS(status) == 0 else "reject"


def write_corpus():
    """Every text as a seed of the fuzzer."""
    folder = pathlib.Path(__file__).resolve().parents[2] / "tests/corpus/hlo_text"
    folder.mkdir(parents=True, exist_ok=True)
    for i, (text, _) in enumerate(TEXTS):
        (folder / ("form_%03d.hlo" % i)).write_bytes(text.encode())


def main():
    write_corpus()
    out = pathlib.Path(__file__).resolve().parents[2] / "tests/hlo/text/verdicts.txt"
    with open(out, "w", newline="") as f:
        f.write("Written by golden/oracles/hlo_text_verdicts.py; do not edit. NUL bytes are written as <NUL>.\n")
        for text, differs in TEXTS:
            reference = verdict(text)
            assay = "accept" if reference == "accept" else "reject"
            if differs:
                assay = "reject" if assay == "accept" else "accept"
            f.write("==== reference: %s, assay: %s%s\n" % (reference, assay,
                                                           " (%s)" % differs if differs else ""))
            f.write(text.replace("\0", "<NUL>") + "\n")
    print(len(TEXTS), "texts")


if __name__ == "__main__":
    main()
