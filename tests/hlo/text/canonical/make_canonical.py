#!/usr/bin/env python3
"""Writes NAME.in.hlo and NAME.hlo beside this script: programs, and the text that XLA prints for them.

Needs jaxlib 0.10.2. XLA's text is taken after one more round of reading and printing, which numbers stack
frames in print order, and negative zeros get the ".0" that XLA's own printer forgets. Usage:
make_canonical.py
"""

import pathlib
import re

from jaxlib import _hlo

ADD = '''add_f { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT r = f32[] add(a, b) }
'''
PROGRAMS = {}
PROGRAMS['elementwise'] = '''HloModule m
ENTRY e { a = f32[2,3] parameter(0)
 b = f32[2,3] parameter(1)
 p = pred[2,3] parameter(2)
 s = f32[] parameter(3)
 i = s32[2,3] parameter(4)
 u = u32[2,3] parameter(5)
 c = c64[2,3] parameter(6)
 abs = f32[2,3] abs(a)
 ex = f32[2,3] exponential(a), result_accuracy={mode=highest}
 lo = f32[2,3] log(ex), result_accuracy={tolerance={atol=0.1,rtol=1e-5,ulps=2}}
 lo2 = f32[2,3] log(ex), result_accuracy={tolerance={ulps=2}}
 lo3 = f32[2,3] log(ex), result_accuracy={mode=default}
 ad = f32[2,3] add(lo, b)
 c1 = pred[2,3] compare(a, b), direction=EQ
 c2 = pred[2,3] compare(a, b), direction=LT, type=TOTALORDER
 c3 = pred[2,3] compare(i, i), direction=GE, type=SIGNED
 c4 = pred[2,3] compare(u, u), direction=GT, type=UNSIGNED
 c5 = pred[2,3] compare(p, p), direction=NE, type=UNSIGNED
 c6 = pred[2,3] compare(c, c), direction=NE, type=FLOAT
 cl = f32[2,3] clamp(s, a, s)
 se = f32[2,3] select(p, a, b)
 bc = s32[2,3] bitcast-convert(a)
 cv = f64[2,3] convert(a)
 rp = f32[2,3] reduce-precision(a), exponent_bits=5, mantissa_bits=10
 sc = bf16[2,3] stochastic-convert(a, u)
 ROOT t = () tuple() }'''
PROGRAMS['shape'] = '''HloModule m
ENTRY e { a = f32[2,3] parameter(0)
 s = f32[] parameter(1)
 i = s32[] parameter(2)
 io = s32[4,5] iota(), iota_dimension=1
 b1 = f32[4,2,3] broadcast(a), dimensions={1,2}
 b2 = f32[4] broadcast(s), dimensions={}
 r = f32[6] reshape(a)
 r2 = f32[<=6] reshape(a), inferred_dimension=0
 dr = f32[<=6] dynamic-reshape(a, i)
 t = f32[3,2]{0,1} transpose(a), dimensions={1,0}
 rv = f32[2,3] reverse(a), dimensions={0,1}
 sl = f32[1,2] slice(a), slice={[0:1], [1:3]}
 sl2 = f32[1,2] slice(a), slice={[0:1], [0:3:2]}
 sl3 = f32[1,2] slice(a), slice={[0:1:1], [1:3:1]}
 sl4 = f32[] slice(s), slice={}
 ds = f32[1,2] dynamic-slice(a, i, i), dynamic_slice_sizes={1,2}
 du = f32[2,3] dynamic-update-slice(a, ds, i, i)
 p1 = f32[5,4] pad(a, s), padding=1_2x-1_2
 p2 = f32[5,4] pad(a, s), padding=1_2_0x0_2_1
 cc = f32[4,3] concatenate(a, a), dimensions={0}
 cp = f32[2,3]{0,1} copy(a)
 bt = f32[3,2] bitcast(a)
 gd = s32[] get-dimension-size(a), dimensions={1}
 sd = f32[2,<=3] set-dimension-size(a, i), dimensions={1}
 so = f32[2,3] sort(a), dimensions={1}, is_stable=true, to_apply={
   x = f32[] parameter(0)
   y = f32[] parameter(1)
   ROOT z = pred[] compare(x, y), direction=LT }
 tk = (f32[2,2], s32[2,2]) topk(a), k=2
 tk2 = (f32[2,2], s32[2,2]) topk(a), k=2, largest=false
 ROOT tt = (f32[6], s32[]) tuple(r, gd) }'''
PROGRAMS['gather'] = "HloModule m\n" + ADD + '''ENTRY e { a = f32[3,4,5] parameter(0)
 i = s64[2,3] parameter(1)
 g = f32[2,1,5] gather(a, i), offset_dims={1,2}, collapsed_slice_dims={0}, start_index_map={0,1,2}, index_vector_dim=1, slice_sizes={1,1,5}
 g2 = f32[2,1,5] gather(a, i), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={0,1}, operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=1, slice_sizes={1,1,5}, indices_are_sorted=true
 s = f32[3,4,5] scatter(a, i, g), update_window_dims={1,2}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0,1,2}, index_vector_dim=1, to_apply=add_f
 ROOT sc2 = f32[3,4,5] scatter(a, i, g), update_window_dims={1,2}, inserted_window_dims={}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, input_batching_dims={0}, scatter_indices_batching_dims={0}, indices_are_sorted=true, unique_indices=true, to_apply=add_f
 }'''
PROGRAMS['window'] = 'HloModule m\n' + ADD + '''ge { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT r = pred[] compare(a, b), direction=GE }
var { a = f32[] parameter(0)
 b = f32[] parameter(1)
 c = f32[] parameter(2)
 d = f32[] parameter(3)
 r = f32[] add(a, b)
 ROOT t = (f32[], f32[]) tuple(r, d) }
scn { x = f32[3] parameter(0)
 c = f32[3] parameter(1)
 s = f32[3] add(x, c)
 ROOT t = (f32[3], f32[3]) tuple(s, s) }
ENTRY e { a = f32[4,4] parameter(0)
 z = f32[] parameter(1)
 r = f32[4] reduce(a, z), dimensions={1}, to_apply=add_f
 r2 = (f32[], f32[]) reduce(a, a, z, z), dimensions={0,1}, to_apply=var
 w = f32[2,2] reduce-window(a, z), window={size=2x2 stride=2x2}, to_apply=add_f
 w2 = f32[2,2] reduce-window(a, z), window={size=2x2 stride=1x2 pad=0_1x-1_0 lhs_dilate=1x2 rhs_dilate=2x1 rhs_reversal=1x0}, to_apply=add_f
 w3 = f32[] reduce-window(z, z), to_apply=add_f
 w4 = f32[4,4] reduce-window(a, z), window={size=1x1}, to_apply=add_f
 ss = f32[4,4] select-and-scatter(a, w, z), window={size=2x2 stride=2x2}, select=ge, scatter=add_f
 mp = f32[4,4] map(a, a), to_apply=add_f, dimensions={0,1}
 mp2 = f32[4,4] map(a, a), dimensions={0,1}, to_apply=add_f
 in = f32[4] constant({1,2,3,4})
 sn = (f32[4,4], f32[4]) scan(a, in), dimensions={0}, num_carries=1, to_apply=scn
 sn2 = (f32[4,4], f32[4]) scan(a, in), dimensions={0}, num_carries=1, is_reverse=true, is_associative=true, to_apply=scn
 sn3 = (f32[4,4], f32[4]) scan(a, in), dimensions={0}, num_carries=1, is_reverse=true, is_associative=false, to_apply=scn
 ROOT t = () tuple() }'''
PROGRAMS['linalg'] = 'HloModule m\n' + '''ENTRY e { a = f32[2,3] parameter(0)
 b = f32[3,4] parameter(1)
 x = f32[1,5,5,2] parameter(2)
 k = f32[3,3,2,4] parameter(3)
 q = f32[2,3,3] parameter(4)
 gs = s32[2] parameter(5)
 v = f32[2] parameter(6)
 z = f32[] parameter(7)
 c = c64[4,8] parameter(8)
 st = u64[2] parameter(9)
 d = f32[2,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
 d0 = f32[2,3,3,4] dot(a, b)
 d2 = f32[2,3,3] dot(q, q), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}, operand_precision={HIGHEST,default}
 d3 = f32[2,3,3] dot(q, q), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}, operand_precision={default,default}, algorithm=dot_bf16_bf16_f32_x3
 d4 = f32[2,3,3] dot(q, q), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}, algorithm=unset
 rd = f32[2,4] ragged-dot(a, q, gs), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}
 sd = f32[2,4] scaled-dot(a, b, a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
 cv = f32[1,3,3,4] convolution(x, k), window={size=3x3}, dim_labels=b01f_01io->b01f
 cv2 = f32[1,3,3,4] convolution(x, k), window={size=3x3 stride=2x1 pad=1_1x0_2 lhs_dilate=2x1 rhs_dilate=1x2 rhs_reversal=1x1}, dim_labels=b01f_01io->b01f, feature_group_count=2, batch_group_count=1, operand_precision={highest,high}
 cv3 = f32[1,3,3,4] convolution(x, k), window={size=3x3}, dim_labels=b01f_01io->b01f, feature_group_count=1, batch_group_count=2
 cv4 = f32[1,4] convolution(a, b), dim_labels=bf_io->bf
 cv5 = f32[1,3,3,4] convolution(x, k), window={size=3x3}, dim_labels=b01f_01io->b01f, convolution_kind=fprop
 ff = c64[4,8] fft(c), fft_type=FFT, fft_length={4,8}
 f2 = f32[4,14] fft(c), fft_type=IRFFT, fft_length={14}
 ch = f32[2,3,3] cholesky(q), lower=true
 ch2 = f32[2,3,3] cholesky(q)
 ts = f32[2,3,3] triangular-solve(q, q), left_side=true, lower=true, transpose_a=NO_TRANSPOSE
 ts2 = f32[2,3,3] triangular-solve(q, q), left_side=true, lower=false, unit_diagonal=true, transpose_a=ADJOINT
 ts3 = f32[2,3,3] triangular-solve(q, q), transpose_a=TRANSPOSE
 bt = (f32[2,3], f32[2], f32[2]) batch-norm-training(a, v, v), epsilon=0.001, feature_index=0
 bi = f32[2,3] batch-norm-inference(a, v, v, v, v), epsilon=1e-5, feature_index=0
 bg = (f32[2,3], f32[2], f32[2]) batch-norm-grad(a, v, v, v, a), epsilon=2, feature_index=0
 rg = f32[2,3] rng(z, z), distribution=rng_uniform
 rb = (u64[2], u32[4]) rng-bit-generator(st), algorithm=rng_three_fry
 rb2 = (u64[2], u32[4]) rng-bit-generator(st), algorithm=RNG_DEFAULT
 rs = u64[2] rng-get-and-update-state(), delta=4
 ROOT t = () tuple() }'''
PROGRAMS['control'] = 'HloModule m\n' + ADD + '''neg { a = f32[] parameter(0)
 ROOT r = f32[] negate(a) }
cond { a = f32[] parameter(0)
 ROOT r = pred[] compare(a, a), direction=LT }
ENTRY e { a = f32[] parameter(0)
 p = pred[] parameter(1)
 i = s32[] parameter(2)
 v = f32[4] parameter(3)
 c = f32[] call(a, a), to_apply=add_f
 cm = f32[] call(a, a), to_apply=add_f, is_composite=true, frontend_attributes={composite.attributes={n = 1 : i32, s = "x"},composite.name="my.add",composite.version="1"}
 w = f32[] while(a), condition=cond, body=neg
 cd = f32[] conditional(p, a, a), true_computation=neg, false_computation=neg
 cb = f32[] conditional(i, a, a, a), branch_computations={neg, neg, neg}
 f = f32[] fusion(a, a), kind=kLoop, calls=add_f
 f2 = (f32[], f32[]) fusion(a, a), kind=kCustom, output_to_operand_aliasing={{0}: (1, {}), {1}: (0, {})}, calls={
   x = f32[] parameter(0)
   y = f32[] parameter(1)
   ROOT t = (f32[], f32[]) tuple(x, y) }
 cc = f32[4] custom-call(v), custom_call_target="foo"
 c2 = f32[4] custom-call(v, v), custom_call_target="f\\"oo\\n\\t\\001", custom_call_has_side_effect=true, operand_layout_constraints={f32[4]{0}, f32[4]{0}}, api_version=API_VERSION_TYPED_FFI, backend_config={a = 1 : i32}
 c3 = (f32[4], s32[]) custom-call(v), custom_call_target="foo", called_computations={neg, add_f}, backend_config="abc\\377", output_to_operand_aliasing={{0}: (0, {})}, schedule=SCHEDULE_LATEST, padding_type=PADDING_SAME, literal=s32[2]{0} {1,2}, operand_precision={high}, window={size=2}, dim_labels=bf_io->bf, feature_group_count=2, batch_group_count=3
 c4 = f32[4] custom-call(v), custom_call_target="foo", literal=(f32[] 1, s32[2]{0} {1, 2}), api_version=API_VERSION_ORIGINAL
 c5 = f32[4] custom-call(v), custom_call_target="foo", api_version=API_VERSION_STATUS_RETURNING_UNIFIED, backend_config="{x"
 t1 = (f32[], f32[4]) tuple(a, v)
 g = f32[4] get-tuple-element(t1), index=1
 af0 = token[] after-all()
 af = token[] after-all(af0, af0)
 adp = f32[4] add-dependency(v, af)
 ob = (f32[], f32[4]) opt-barrier(t1)
 in = (f32[2], token[]) infeed(af)
 in2 = (f32[2], token[]) infeed(af), infeed_config="cfg"
 ou = token[] outfeed(v, af), outfeed_shape=f32[4]{0}
 ou2 = token[] outfeed(v, af), outfeed_shape=f32[4]{0}, outfeed_config="xx"
 sn = (f32[4], u32[], token[]) send(v, af), channel_id=3
 sd = token[] send-done(sn), channel_id=3
 sn2 = (f32[4], u32[], token[]) send(v, af), channel_id=3, is_host_transfer=true, frontend_attributes={_xla_host_transfer_rendezvous="x"}
 sd2 = token[] send-done(sn2), channel_id=3, is_host_transfer=true
 rc = (f32[4], u32[], token[]) recv(af), channel_id=4, is_host_transfer=false
 rd = (f32[4], token[]) recv-done(rc), channel_id=4
 dm = f32[4] domain(v), domain={kind="sharding", entry={maximal device=0}, exit={maximal device=1}}
 cs = (f32[4], f32[4], u32[]) copy-start(v)
 cs2 = (f32[4], f32[4], u32[]) copy-start(v), cross_program_prefetch_index=0
 cdn = f32[4] copy-done(cs), control-predecessors={adp, g}
 as = ((f32[4]), f32[4], u32[]) custom-call-start(v), custom_call_target="foo", async_execution_thread="thr"
 au = ((f32[4]), f32[4], u32[]) custom-call-update(as)
 ad = f32[4] custom-call-done(au)
 as2 = ((f32[], f32[]), f32[], u32[]) async-start(a, a), calls={
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  n = f32[] negate(x)
  ROOT r = f32[] add(n, y) }
 ad2 = f32[] async-done(as2)
 as3 = ((f32[]), f32[], u32[]) async-start(a), async_execution_thread="other", calls={
  w = f32[] parameter(0)
  k = f32[] negate(w)
  ROOT kk = f32[] negate(k) }
 au3 = ((f32[]), f32[], u32[]) async-update(as3)
 ad3 = f32[] async-done(au3)
 ROOT t = () tuple() }'''
PROGRAMS['collective'] = 'HloModule m, replica_count=4, num_partitions=2\n' + ADD + '''ENTRY e { a = f32[4] parameter(0)
 b = f32[8] parameter(1)
 i = s32[4] parameter(2)
 ar = f32[4] all-reduce(a), replica_groups={}, to_apply=add_f
 ar2 = f32[4] all-reduce(a), replica_groups={{0,1},{2,3}}, channel_id=1, use_global_device_ids=true, constrain_layout=true, to_apply=add_f
 ar3 = f32[4] all-reduce(a), replica_groups=[2,4]<=[8], to_apply=add_f
 ar4 = f32[4] all-reduce(a), replica_groups=[2,4]<=[2,2,2]T(2,0,1), to_apply=add_f, mode=flattened_id
 ar5 = f32[4] all-reduce(a), replica_groups=[4,2]<=[4,2]T(1,0), to_apply=add_f
 ars = f32[4] all-reduce-start(a), replica_groups={{0,1}}, to_apply=add_f
 ard = f32[4] all-reduce-done(ars)
 ag = f32[16] all-gather(a), replica_groups={{0,1,2,3}}, dimensions={0}, channel_id=2, use_global_device_ids=true
 ags = (f32[4], f32[16]) all-gather-start(a), replica_groups={}, dimensions={0}
 agd = f32[16] all-gather-done(ags)
 rs = f32[2] reduce-scatter(b), replica_groups={{0,1,2,3}}, dimensions={0}, channel_id=2, use_global_device_ids=true, to_apply=add_f
 aa = f32[8] all-to-all(b), replica_groups={{0,1,2,3}}, dimensions={0}
 aa2 = (f32[4], f32[4]) all-to-all(a, a), replica_groups={{0,1}}, channel_id=3
 ra = f32[8] ragged-all-to-all(b, b, i, i, i, i), replica_groups={{0,1,2,3}}
 cb = f32[4] collective-broadcast(a), replica_groups={{0,1}}
 cp = f32[4] collective-permute(a), source_target_pairs={{0,1},{1,0}}
 cp2 = f32[4] collective-permute(a), source_target_pairs={{0,1},{1,2}}, channel_id=5
 cps = (f32[4], f32[4], u32[], u32[]) collective-permute-start(a), source_target_pairs={{0,1}}
 cpd = f32[4] collective-permute-done(cps)
 pi = u32[] partition-id()
 ri = u32[] replica-id()
 ROOT t = () tuple() }'''
PROGRAMS['common'] = '''HloModule m, is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, must-alias) }, alias_passthrough_params=true, entry_computation_layout={(f32[2,3]{0,1}, f32[2,3], f32[], f32[], f32[], f32[])->(f32[2,3], f32[2,3])}, allow_spmd_sharding_propagation_to_parameters={true,true,false,false,true,true}, allow_spmd_sharding_propagation_to_output=true, replica_count=2, num_partitions=2, frontend_attributes={b="x",a={"k":1}}
ENTRY e { a = f32[2,3] parameter(0), sharding={devices=[2,1]<=[2]}, parameter_replication={true}, metadata={op_name="p"}
 b = f32[2,3] parameter(1), sharding={replicated}
 c = f32[] parameter(2), sharding={maximal device=1}
 d = f32[] parameter(3), frontend_attributes={zz="1",aa={x = 1},mm="a{b"}
 e = f32[] parameter(4), statistics={visualizing_index=0,flops=2}
 f = f32[] parameter(5)
 n = f32[2,3] negate(a), metadata={op_type="neg" op_name="jit(f)/neg" source_file="x.py" source_line=12 source_end_line=13 source_column=4 source_end_column=8}, backend_config="plain"
 m = f32[2,3] negate(n), metadata={op_name="a\\"b" profile_type={1} deduplicated_name="dd" scheduling_name="ss" stack_frame_id=0}, backend_config={"k":{"x":1}}, origin={{"x" {0}}}
 o = f32[2,3] multiply(n, m), control-predecessors={c, d}, sharding={devices=[2,1,2]0,1,2,3 last_tile_dim_replicate}
 ROOT t = (f32[2,3], f32[2,3]) tuple(m, o), sharding={{replicated}, {devices=[1,2]<=[2]}}, origin={({"a"},{"b" {1,0}})} }'''
PROGRAMS['bigtuple'] = '''HloModule m, buffer_donor={ (0, {}), (1, {1,0}) }
ENTRY e { a = f32[2]{0:T(2)} parameter(0)
 b = ((f32[], (s32[], pred[])), token[], (), s8[2,2]{0,1}, u4[3], bf16[1], f32[<=4]) parameter(1)
 ROOT t = (f32[2], f32[2], f32[2], f32[2], f32[2], f32[2], f32[2], f32[2], f32[2], f32[2], f32[2], f32[2]) tuple(a, a, a, a, a, a, a, a, a, a, a, a) }'''
PROGRAMS['literals'] = '''HloModule m
ENTRY e { 
 a = f32[] constant(1.5)
 b = f32[3] constant({1, -0.0, nan})
 c = f32[2,2] constant({{1,2},{3,1e30}})
 d = s32[2,1,2] constant({{{1,2}},{{3,4}}})
 f = pred[2] constant({true,false})
 g = pred[] constant(true)
 h = f32[0] constant({})
 i = f32[2,0] constant({{},{}})
 i2 = f32[0,2] constant({})
 j = s8[1,1,1,2] constant({{{{1,2}}}})
 k = s8[2,2,1,1,2] constant({{{{{1,2}}},{{{1,2}}}},{{{{1,2}}},{{{1,2}}}}})
 l = (f32[], (s32[2], pred[])) constant((1, ({1,2}, false)))
 m = () constant(())
 n = c64[2] constant({(1,2), (-1.5,inf)})
 o = c64[] constant((1,2))
 q = f64[2] constant({0.1, -nan})
 r = f32[] constant(nan(0x123))
 s = f8e4m3fn[3] constant({448, nan, -0.0})
 u = u4[3] constant({1,2,15})
 v = f32[1] constant({2})
 w = f32[1,1] constant({{2}})
 x = f32[12] constant({1,2,3,4,5,6,7,8,9,10,11,12})
 y = f32[3,1] constant({{2},{3},{4}})
 ROOT t = () tuple() }'''
PROGRAMS['forms'] = '''HloModule m
neg { a = f32[] parameter(0)
 ROOT r = f32[] negate(a) }
add_f { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT r = f32[] add(a, b) }
ENTRY e { s = f32[] parameter(0)
 v = f32[4] parameter(1)
 i = s32[4] parameter(2)
 p = pred[] parameter(3)
 si = s32[] parameter(4)
 x0 = f32[4] custom-call(v), custom_call_target="foo", to_apply=neg
 x1 = f32[4] custom-call(v), custom_call_target="foo", called_computations={neg}
 x2 = f32[4] custom-call(v), custom_call_target="foo", called_computations={}
 x3 = f32[4] custom-call(), custom_call_target="f", operand_layout_constraints={}
 x4 = f32[4] ragged-dot(v,v,i), lhs_contracting_dims={}, rhs_contracting_dims={}
 x5s = ((f32[]), f32[], u32[]) async-start(s), calls={ n1 = f32[] parameter(0)
 ROOT m1 = f32[] negate(n1) }
 x5d = f32[] async-done(x5s)
 x6s = ((f32[]), f32[], u32[]) async-start(s), calls={ n2 = f32[] parameter(0)
 ROOT m2 = f32[] negate(n2) }, async_execution_thread="foo"
 x6d = f32[] async-done(x6s), async_execution_thread="foo"
 x7s = ((f32[]), f32[], u32[]) negate-start(s), metadata={op_name="x"}, sharding={replicated}, frontend_attributes={a="b"}, backend_config="xx", control-predecessors={v}, origin={{"x"}}
 x7d = f32[] negate-done(x7s), metadata={op_name="y"}
 x8s = ((f32[]), f32[], u32[]) exponential-start(s), result_accuracy={mode=highest}
 x9s = ((f32[4],f32[4]), pred[4], u32[]) compare-start(v,v), direction=LT, type=TOTALORDER
 x10s = ((f32[4],f32[]), f32[], u32[]) reduce-start(v,s), dimensions={0}, to_apply=add_f
 x11s = ((f32[4],f32[]), f32[], u32[]) fusion-start(v,s), kind=kLoop, calls=add_f
 x12s = ((f32[]), (f32[])) call-start(s), to_apply=neg, async_execution_thread="main"
 x13 = f32[] conditional(p, s, s), true_computation=neg, false_computation=neg
 x14 = f32[4] map(v), to_apply=neg
 x15 = f32[4] broadcast(s)
 x16 = f32[4] dot(v,v), algorithm=DOT_F32_F32_F32
 x17 = f32[4] collective-permute(v), source_target_pairs={}
 x18 = f32[4] all-gather(v), dimensions={0}
 x19 = f32[4] collective-permute(v,v,i,i), source_target_pairs={{0,1}}, slice_sizes={{1},{2}}
 x20 = f32[4] collective-broadcast(v)
 x21 = f32[4] pad(v,s), padding=0_0
 x22 = f32[4] sort(v), dimensions={0}, to_apply=add_f, is_stable=false
 x23 = f32[4] cholesky(v), lower=false
 x24 = f32[4] fft(v), fft_type=FFT, fft_length={}
 x25 = f32[4] add(v,v), metadata={}
 x26 = f32[4] add(v,v), statistics={}
 x27 = f32[4] add(v,v), frontend_attributes={}
 x28 = f32[4] add(v,v), sharding={}
 x29 = f32[4] add(v,v), backend_config={}
 x30 = f32[4] add(v,v), backend_config="{}"
 x31 = f32[4] add(v,v), backend_config="{\\"a\\":\\"}\\"}"
 x32 = f32[4] add(v,v), backend_config="{a}}"
 x33 = f32[4] add(v,v), backend_config="a\\x01\\xe9\\?\\x7f'"
 x34 = f32[4] add(v,v), metadata={op_name="a\\nb'\\x09" source_line=0}
 x35 = f32[4] add(v,v), origin={{}}
 x36 = f32[4] add(v,v), origin={({"a"},({"b"},{"c" {1}}))}
 x37 = f32[4] add(v,v), statistics={visualizing_index=1,foo=2.5,bar=10}
 x38 = f32[4] fusion(v), kind=kInput, calls=neg, output_to_operand_aliasing={}
 x39 = f32[4] copy-start(v), cross_program_prefetch_index=1
 x40 = f32[4] all-reduce(v), replica_groups=[1,4]<=[4], to_apply=add_f, channel_id=0
 x41 = f32[4] all-reduce(v), replica_groups=mesh["a"=2,"b"=2] {"a"}, to_apply=add_f
 x42 = f32[4] all-reduce(v), replica_groups=mesh["a"=2,"b"=4],device_ids=([8]) {"b":(2)2}, to_apply=add_f
 x43 = f32[4] all-reduce(v), replica_groups=[4,1]<=[2,2]T(1,0), to_apply=add_f
 x44 = f32[4] all-reduce(v), replica_groups=[2,2]<=[2,2]T(0,1), to_apply=add_f
 x45 = f32[4] get-dimension-size(v), dimensions={0}
 x46 = (f32[4], u32[], token[]) send(v, v), is_host_transfer=true
 x47 = f32[4] log(v), result_accuracy={tolerance={}}
 x48 = f32[4] log(v), result_accuracy={tolerance={atol=1e-30}}
 x49 = f32[4] batch-norm-inference(v,v,v,v,v), epsilon=0.1, feature_index=0
 x50 = f32[4] batch-norm-inference(v,v,v,v,v), epsilon=1e-12, feature_index=0
 x51 = f32[4] domain(v), domain={kind="sharding", entry={{replicated},{replicated}}, exit={maximal device=1}}
 x52 = token[] outfeed(v,v)
 x53 = f32[4] rng(v,v), distribution=RNG_NORMAL
 x54 = f32[4] slice(v), slice={[0:4:1]}
 ROOT zz = () tuple() }'''
PROGRAMS['order'] = '''HloModule m
a { ROOT p = f32[] parameter(0) }
b { ROOT p = f32[] parameter(0) }
c { p = f32[] parameter(0)
 ROOT q = f32[] call(p), to_apply=a }
d { ROOT p = f32[] parameter(0) }
lone { ROOT p = f32[] parameter(0) }
e { ROOT p = f32[] parameter(0) }
cond { p = f32[] parameter(0)
 ROOT q = pred[] compare(p,p), direction=EQ }
ENTRY main { p = f32[] parameter(0)
 z = f32[] call(p), to_apply=e
 y = f32[] call(z), to_apply=d
 i = s32[] constant(2)
 x = f32[] conditional(i, p, p, p), branch_computations={a, c, b}
 w = f32[] while(p), condition=cond, body=d
 v = f32[] call(w), to_apply=b
 dead = f32[] negate(p), control-predecessors={y, v}
 ROOT t = (f32[],f32[],f32[],f32[]) tuple(v,x,y,z) }
after { ROOT p = f32[] parameter(0) }'''
PROGRAMS['frames'] = '''HloModule m

FileNames
1 "x.py"
2 "unused.py"

FunctionNames
1 "f"
2 "g"

FileLocations
1 {file_name_id=1 function_name_id=2 line=2 end_line=2 column=4 end_column=22}
2 {file_name_id=1 function_name_id=1 line=1 end_line=1 column=4 end_column=22}
3 {file_name_id=1 function_name_id=1 line=1 end_line=1 column=4 end_column=22}

StackFrames
1 {file_location_id=2 parent_frame_id=1}
2 {file_location_id=1 parent_frame_id=2}
3 {file_location_id=2 parent_frame_id=1}
4 {file_location_id=3 parent_frame_id=1}
5 {file_location_id=1 parent_frame_id=1}

ENTRY e { a = f32[] parameter(0)
 z = f32[] negate(a), metadata={op_name="z" stack_frame_id=2}
 y = f32[] negate(a), metadata={op_name="y" stack_frame_id=3}
 w = f32[] negate(a), metadata={op_name="w" stack_frame_id=4}
 u = f32[] negate(a), metadata={op_name="u" stack_frame_id=9}
 v = f32[] negate(a), metadata={op_name="v" stack_frame_id=5}
 ROOT t = (f32[], f32[], f32[]) tuple(v,y,z) }
'''

# A program that verifies, and is printed as it is declared after that too.
PROGRAMS['declared'] = '''HloModule m
ENTRY e { x = s8[2,5,6,3,4] parameter(0)
 k = s8[3,2,2,4,7] parameter(1)
 a = f32[4,3] parameter(2)
 b = f32[3,2] parameter(3)
 p = s32[4,5] parameter(4)
 n = s32[] parameter(5)
 labels = s8[2,4,5,7] custom-call(x, k), window={size=2x2}, dim_labels=b01f?_i01?o->b01f, custom_call_target="conv"
 window = f32[4,2] custom-call(a, b), window={}, dim_labels=bf_io->bf, custom_call_target="matmul"
 none = f32[4,2] custom-call(a, b), custom_call_target="none"
 d0 = s32[<=4,5] set-dimension-size(p, n), dimensions={0}
 d1 = s32[4,<=5] set-dimension-size(d0, n), dimensions={1}
 d2 = s32[4,5] negate(d1)
 d3 = (s32[4,5], s32[<=4,5]) tuple(d2, d0)
 d4 = s32[4,5] get-tuple-element(d3), index=1
 s = ((f32[4,3]), f32[4,3], u32[]) custom-call-start(a), custom_call_target="t", output_to_operand_aliasing={{}: (0, {})}, schedule=SCHEDULE_LATEST
 y = f32[4,3] custom-call-done(s)
 ROOT t = (s8[2,4,5,7], s32[4,5]) tuple(labels, d4) }'''


def print_by_xla(text):
    options = _hlo.HloPrintOptions()
    options.print_large_constants = True
    return _hlo.hlo_module_from_text(text).to_string(options)


def with_signed_zeros(text):
    return re.sub(r"([ {(])-0([,})])", r"\1-0.0\2", text)


def main():
    here = pathlib.Path(__file__).parent
    for name, program in PROGRAMS.items():
        once = with_signed_zeros(print_by_xla(program))
        canonical = with_signed_zeros(print_by_xla(once))
        (here / f"{name}.in.hlo").write_text(program + "\n")
        (here / f"{name}.hlo").write_text(canonical)


if __name__ == "__main__":
    main()
