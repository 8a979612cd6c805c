"""Writes the seeds in tests/corpus/literal: a shape, a line feed,
and a value of it or something close to one."""
import os

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'literal')
TYPES = ('pred s1 s2 s4 s8 s16 s32 s64 u1 u2 u4 u8 u16 u32 u64 f16 f32 f64 bf16 f8e5m2 f8e4m3 f8e4m3fn f8e4m3b11fnuz '
         'f8e3m4 f8e5m2fnuz f8e4m3fnuz f8e8m0fnu f6e3m2fn f6e2m3fn f4e2m1fn c64 c128').split()
FLOATS = ['0', '-0.0', '1.5', '-2', 'inf', '-inf', 'nan', '-nan', 'nan(0x1)', '1e-45', '3.40282347e+38',
          '1e400',
          '1e-400', '0x1.8p+1', '-0x0p+0', '.5', '-.5', '5.', '18446744073709551615', '9007199254740993.0']
OTHER = [
    ('f32[2,2]', '{ { 1, 2 }, { 3, 4 } }'), ('f32[2,2]', '{{1 2}{3 4}}'), ('f32[2,2]', '{{1,2},{3}}'),
    ('f32[2,0]', '{{},{}}'), ('f32[0,2]', '{}'), ('s32[1,2,1,2,1]', '{{{{{1},{2}}},{{{3},{4}}}}}'),
    ('s8[3]', '{1 /* two */ 2 // three\n 3}'), ('s8[3]', '{1, /* '), ('s8[3]', '{...}'),
    ('(f32[],s32[2])', '(1,{2,3})'),
    ('(f32[],(s32[2],()))', '(1,({2,3},()))'), ('()', '()'), ('()', '( )'), ('token[]', '1'),
    ('s64[9223372036854775807]', '{}'),
    ('f32[1152921504606846976]', '{1'), ('s8[1000000000000,0]', '{}'), ('f64[]', '0.' + '0' * 400 + '1e401'),
    ('f64[]', '1' * 800 + 'e-700'), ('f64[]', '1e' + '9' * 300), ('s32[<=3]', '{1,2,3}'),
    ('f32[2]', '{{{{{{{{'),
    ('u8[256]', '{' + ','.join(map(str, range(256))) + '}'), ('f32[]', 'nan(0x'), ('f32[]', '-'),
    ('f32[]', '/'),
]

os.makedirs(FOLDER, exist_ok=True)
seeds = []
for name in TYPES:
    if name.startswith('c'):
        seeds += [(name + '[]', '(%s, %s)' % (a, b)) for a, b in zip(FLOATS[:10], FLOATS[3:13])]
    elif name[0] in 'fb':
        seeds += [(name + '[]', f) for f in (FLOATS if name in ('f32', 'f64') else FLOATS[::3])]
    else:
        seeds += [(name + '[2]', '{%s, %s}' % p)
                  for p in (('0', '-1'), ('1', '300'), ('true', '18446744073709551615'))]
for number, (shape, text) in enumerate(seeds + OTHER):
    with open(os.path.join(FOLDER, 'seed_%03d' % number), 'w') as f:
        f.write(shape + '\n' + text)
