"""golden/random/: the streams of docs/spec/operations-rng.md in Python: integers for the bits, NumPy scalars
for the arithmetic in f32 and f64, mpmath for log, sine and cosine."""
import math

import mpmath
import numpy as np
from system import Table

M32, M64 = 2**32 - 1, 2**64 - 1


def threefry(k0, k1, c0, c1):
    keys = [k0, k1, k0 ^ k1 ^ 0x1BD11BDA]
    x, y = (c0 + k0) & M32, (c1 + k1) & M32
    for g in range(5):
        for d in ([13, 15, 26, 6], [17, 29, 16, 24])[g % 2]:
            x = (x + y) & M32
            y = ((y << d) | (y >> (32 - d))) & M32
            y ^= x
        x = (x + keys[(g + 1) % 3]) & M32
        y = (y + keys[(g + 2) % 3] + g + 1) & M32
    return x, y


def philox(k0, k1, c):
    for _ in range(10):
        p, q = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [(q >> 32) ^ c[1] ^ k0, q & M32, (p >> 32) ^ c[3] ^ k1, p & M32]
        k0, k1 = (k0 + 0x9E3779B9) & M32, (k1 + 0xBB67AE85) & M32
    return c


assert threefry(0, 0, 0, 0) == (0x6B200159, 0x99BA4EFE)
assert threefry(0x13198A2E, 0x03707344, 0x243F6A88, 0x85A308D3) == (0xC4923A9C, 0x483DF7A0)
assert philox(0, 0, [0] * 4) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
assert philox(0xA4093822, 0x299F31D0, [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344]) == [
    0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]


def words(key, counter, count):
    out = []
    while len(out) < count:
        c = counter & (2**128 - 1)
        out += philox(key & M32, key >> 32, [c >> 32 * i & M32 for i in range(4)])
        counter += 1
    return out[:count]


def split_dimension(dims):
    for d, n in enumerate(dims):
        if n % 2 == 0:
            return d
    return dims.index(max(dims))


def indices(dims):
    return np.ndindex(*dims)


def threefry_bits(state, dims, width):
    """Row-major elements and the new state."""
    key, base = state
    run = lambda n: threefry(key & M32, key >> 32, (base + n) & M64 & M32, ((base + n) & M64) >> 32)
    if width == 64:
        count = math.prod(dims)
        pairs = [run(i) for i in range(count)]
        return [x | y << 32 for x, y in pairs], [key, (base + count) & M64]
    sizes = list(dims) or [1]
    s = split_dimension(sizes)
    half = sizes[:s] + [-(-sizes[s] // 2)] + sizes[s + 1:]
    out = []
    for J in indices(sizes):
        H = J[:s] + (J[s] // 2,) + J[s + 1:]
        n = 0
        for h, size in zip(H, half):
            n = n * size + h
        out.append(run(n)[J[s] % 2] & (2**width - 1))
    return out, [key, (base + math.prod(half)) & M64]


def philox_bits(state, dims, width):
    counter = state[1] + (state[2] if len(state) == 3 else state[0]) * 2**64
    per = 2 if width == 64 else 1
    count = math.prod(dims)
    stream = words(state[0], counter, count * per)
    if width == 64:
        out = [stream[2 * i] | stream[2 * i + 1] << 32 for i in range(count)]
    else:
        out = [w & (2**width - 1) for w in stream]
    counter += -(-count * per // 4)
    new = [state[0], counter & M64] + ([counter >> 64 & M64] if len(state) == 3 else [])
    return out, new


FLOAT_BITS = {"f32": np.float32, "f64": np.float64, "f16": np.float16}


def element(type_, bits, width):
    if type_ in FLOAT_BITS:
        value = np.array([bits], dtype=f"u{width // 8}").view(FLOAT_BITS[type_])[0]
        return hexadecimal(value)
    if type_[0] == "s" and bits >> (width - 1):
        bits -= 2**width
    return str(bits)


def hexadecimal(value):
    assert not np.isnan(value), "choose a seed without NaN"
    return "-0.0" if value == 0 and np.signbit(value) else float(value).hex()


def braces(texts, dims):
    if not dims:
        return texts[0]
    step = len(texts) // dims[0] if dims[0] else 0
    return "{" + ", ".join(braces(texts[i * step:(i + 1) * step], dims[1:]) for i in range(dims[0])) + "}"


def shape(type_, dims):
    return f"{type_}[{','.join(map(str, dims))}]"


def value(type_, dims, texts):
    return f"{shape(type_, dims)} {braces(texts, dims)}"


def generator_case(t, name, algorithm, state, type_, dims, oracle="rational", first=None, new=None):
    width = int(type_[1:])
    bits, after = (threefry_bits if algorithm == "rng_three_fry" else philox_bits)(state, dims, width)
    if first is not None:  # printed in the specification
        assert bits[:len(first)] == first and after == new, name
    n = len(state)
    result = f"(u64[{n}], {shape(type_, dims)})"
    t.gives(f"rng_bit_generator_{name}", f"""
        s = u64[{n}] parameter(0)
        ROOT r = {result} rng-bit-generator(s), algorithm={algorithm}""",
            [value("u64", [n], list(map(str, state)))],
            [value("u64", [n], list(map(str, after))),
             value(type_, dims, [element(type_, b, width) for b in bits])],
            oracle="spec" if first is not None else oracle)


def generators(t):
    case = lambda *args, **named: generator_case(t, *args, **named)
    fry, phi = "rng_three_fry", "rng_philox"
    four = [0x9D838665, 0xCCEB7411, 0x1546F0B3, 0x677F2006]
    case("fry_u32", fry, [42, 7], "u32", [4], first=four, new=[42, 9])
    case("fry_rows", fry, [42, 7], "u32", [3, 2], first=four + [0xFBB22BA6, 0x3C3FD877], new=[42, 10])
    case("fry_odd", fry, [42, 7], "u32", [3, 5], first=four + [0xFBB22BA6, 0x2193F28B], new=[42, 16])
    case("fry_u64", fry, [42, 7], "u64", [2, 2], first=[0xCCEB74119D838665], new=[42, 11])
    case("fry_scalar", fry, [42, 7], "u32", [], first=[0x9D838665], new=[42, 8])
    case("fry_u8", fry, [42, 7], "u8", [5])
    case("fry_u16", fry, [1, 2], "u16", [3, 1])
    case("fry_s8", fry, [3, 4], "s8", [2, 2])
    case("fry_s64", fry, [3, 4], "s64", [3])
    case("fry_f32", fry, [3, 4], "f32", [3])
    case("fry_f64", fry, [5, 4], "f64", [2])
    case("fry_u4", fry, [3, 4], "u4", [5])
    case("fry_s2", fry, [3, 4], "s2", [5])
    case("fry_counter_wraps", fry, [9, M64], "u64", [3])
    case("fry_counter_wraps_u32", fry, [9, M64], "u32", [4])
    case("fry_high_key", fry, [0x9E3779B97F4A7C15, 0xFFFFFFFF], "u32", [4])
    case("fry_zero_size", fry, [42, 7], "u32", [3, 0])
    case("fry_zero_size_u64", fry, [42, 7], "u64", [0])
    case("fry_ones", fry, [42, 7], "u32", [1, 1, 1])
    case("fry_three_dims", fry, [42, 7], "u32", [3, 3, 2])
    case("philox_u32", phi, [42, 7, 9], "u32", [4], first=[0xF770D5FC, 0x3B951888, 0xEDABC822, 0xC5707BB4],
         new=[42, 8, 9])
    case("philox_two_words", phi, [42, 7], "u32", [4], first=[0x559EE8E8, 0x3C8C395D, 0x3EFDB4DC, 0xB9941942],
         new=[42, 8])
    case("philox_carry", phi, [42, M64, 3], "u32", [4],
         first=[0x82FB0871, 0x12D6D5FE, 0x66B202C8, 0xA568C1CE], new=[42, 0, 4])
    case("philox_u64", phi, [42, 7, 9], "u64", [2, 2], first=[0x3B951888F770D5FC], new=[42, 9, 9])
    case("philox_u8", phi, [42, 7, 9], "u8", [5], first=[0xFC, 0x88, 0x22, 0xB4, 0x41], new=[42, 9, 9])
    case("philox_carry_in_the_middle", phi, [42, M64, M64], "u32", [6])
    case("philox_two_words_carry_is_lost", phi, [42, M64], "u32", [6])
    case("philox_u16", phi, [1, 2, 3], "u16", [7])
    case("philox_s32", phi, [1, 2, 3], "s32", [2, 3])
    case("philox_s64_odd", phi, [1, 2, 3], "s64", [3])
    case("philox_f16", phi, [1, 2, 3], "f16", [3])
    case("philox_f64", phi, [1, 2], "f64", [2])
    case("philox_s4", phi, [1, 2], "s4", [5])
    case("philox_zero_size", phi, [42, 7, 9], "u32", [0])
    case("philox_scalar", phi, [42, 7, 9], "u32", [])
    case("default_three_words", "rng_default", [42, 7, 9], "u32", [5])
    case("default_two_words", "rng_default", [42, 7], "u32", [5])
    t.gives("rng_bit_generator_two_draws", """
        s = u64[2] parameter(0)
        a = (u64[2], u32[4]) rng-bit-generator(s), algorithm=rng_three_fry
        after = u64[2] get-tuple-element(a), index=0
        b = (u64[2], u32[4]) rng-bit-generator(after), algorithm=rng_three_fry
        ROOT r = u32[4] get-tuple-element(b), index=1""", ["u64[2] {42, 7}"],
            [value("u32", [4], [str(b) for b in threefry_bits([42, 9], [4], 32)[0]])], oracle="rational")
    t.gives("rng_bit_generator_dead", """
        s = u64[2] parameter(0)
        a = (u64[2], u32[4]) rng-bit-generator(s), algorithm=rng_default
        ROOT r = u64[2] copy(s)""", ["u64[2] {42, 7}"], ["u64[2] {42, 7}"])

    def refuse(name, text, state, result, algorithm, code=3):
        t.refuses(f"rng_bit_generator_{name}", code, text,
                  f"s = {state} parameter(0)\nROOT r = {result} rng-bit-generator(s), algorithm={algorithm}")
    refuse("c1_fry_three", "RngBitGenerator-C1: the state is u64[3]", "u64[3]", "(u64[3], u32[2])", fry)
    refuse("c1_four", "RngBitGenerator-C1: the state is u64[4]", "u64[4]", "(u64[4], u32[2])", phi)
    refuse("c1_type", "RngBitGenerator-C1: the state is u32[2]", "u32[2]", "(u32[2], u32[2])", phi)
    refuse("c1_rank", "RngBitGenerator-C1: the state is u64[]", "u64[]", "(u64[], u32[2])", phi)
    refuse("c2_one_element", "RngBitGenerator-C2", "u64[2]", "(u64[2])", phi)
    refuse("c2_other_state", "RngBitGenerator-C2", "u64[2]", "(u64[3], u32[2])", phi)
    refuse("c3_pred", "RngBitGenerator-C3: bits of type pred", "u64[2]", "(u64[2], pred[2])", phi)
    refuse("c3_complex", "RngBitGenerator-C3: bits of type c64", "u64[2]", "(u64[2], c64[2])", phi)
    refuse("algorithm", "found 'rng_dice'", "u64[2]", "(u64[2], u32[2])", "rng_dice")


def states(t):
    first = 0x7012395
    draw = lambda name, delta: f"{name} = u64[2] rng-get-and-update-state(), delta={delta}"
    t.gives("rng_state_spec", draw("a", 4) + "\n" + draw("b", 4) + "\nROOT r = (u64[2], u64[2]) tuple(a, b)",
            outs=[f"u64[2] {{{first}, 0}}", f"u64[2] {{{first + 4}, 0}}"], oracle="spec")
    t.gives("rng_state_zero_delta",
            draw("a", 0) + "\n" + draw("b", 1) + "\nROOT r = (u64[2], u64[2]) tuple(a, b)",
            outs=[f"u64[2] {{{first}, 0}}"] * 2)
    t.gives("rng_state_dead_draw_counts", draw("a", 10) + "\nROOT " + draw("b", 1),
            outs=[f"u64[2] {{{first + 10}, 0}}"])
    big = 2**63 - 1
    t.gives("rng_state_carry", "\n".join(draw(f"a{i}", big) for i in range(3)) + "\nROOT " + draw("b", 1),
            outs=[f"u64[2] {{{(first + 3 * big) & M64}, {(first + 3 * big) >> 64}}}"])
    t.gives("rng_state_in_loop", """
        z = s32[] constant(0)
        w = s32[] while(z), condition=c, body=b
        ROOT r = u64[2] rng-get-and-update-state(), delta=1""", outs=[f"u64[2] {{{first + 5 * 7}, 0}}"],
            computations="""
        c {
        i = s32[] parameter(0)
        n = s32[] constant(5)
        ROOT l = pred[] compare(i, n), direction=LT
        }

        b {
        i.1 = s32[] parameter(0)
        d = u64[2] rng-get-and-update-state(), delta=7
        o = s32[] constant(1)
        ROOT j = s32[] add(i.1, o)
        }""")
    t.refuses("rng_state_c1", 3, "RngGetAndUpdateState-C1: the result is u64[3]",
              "ROOT r = u64[3] rng-get-and-update-state(), delta=1")
    t.refuses("rng_state_c2", 3, "has 1 operand", "x = u64[] parameter(0)\nROOT r = u64[2] rng-get-and-update-state(x), delta=1")
    t.refuses("rng_state_c3", 3, "RngGetAndUpdateState-C3: delta is -1",
              "ROOT r = u64[2] rng-get-and-update-state(), delta=-1")


START = 0x7012395


def unit(stream, kind, count):
    """Uniforms on [0, 1) in f32 or f64, exact."""
    if kind is np.float64:
        return [np.float64((stream[2 * i] | stream[2 * i + 1] << 32) >> 12) * np.float64(2.0**-52)
                for i in range(count)]
    return [np.float32(stream[i] >> 9) * np.float32(2.0**-23) for i in range(count)]


def uniform(kind, a, b, dims, seed=42, counter=START):
    count = math.prod(dims)
    a, b = kind(a), kind(b)
    out = []
    for u in unit(words(seed, counter, 2 * count), kind, count):
        r = kind(kind(u * kind(b - a)) + a)
        out.append(np.nextafter(b, kind(-np.inf)) if a < b and r >= b else r)
    return out


def uniform_narrow(type_, a, b, count):
    """Through f32, then rounded (ml_dtypes rounds to nearest even), with the same cap."""
    import ml_dtypes
    narrow = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f8e5m2": ml_dtypes.float8_e5m2,
              "f8e4m3fn": ml_dtypes.float8_e4m3fn}[type_]
    a, b = narrow(a), narrow(b)
    out = []
    for u in unit(words(42, START, count), np.float32, count):
        r = narrow(np.float32(np.float32(u * np.float32(np.float32(b) - np.float32(a))) + np.float32(a)))
        out.append(np.nextafter(b, narrow(-np.inf)) if r >= b else r)
    return out


def nearest(x, kind):
    """RN of an mpmath number with 200 bits, by comparing neighbours exactly."""
    guess = kind(float(x))
    best = min((np.nextafter(guess, kind(-np.inf)), guess, np.nextafter(guess, kind(np.inf))),
               key=lambda c: abs(mpmath.mpf(float(c)) - x))
    return best


def normal(kind, mu, sigma, dims):
    mpmath.mp.prec = 200
    sizes = list(dims) or [1]
    s = split_dimension(sizes)
    half = sizes[:s] + [-(-sizes[s] // 2)] + sizes[s + 1:]
    concat = sizes[:s] + [2 * half[s]] + sizes[s + 1:]
    count = math.prod(concat)
    flat = unit(words(42, START, 2 * count), kind, count)
    grid = {J: flat[i] for i, J in enumerate(indices(concat))}
    two_pi, floor = kind(np.float32(2 * math.pi)), kind(np.float32(1e-7))
    out = []
    for J in indices(sizes):
        even, odd = list(J), list(J)
        even[s], odd[s] = J[s] // 2 * 2, J[s] // 2 * 2 + 1
        x0, x1 = grid[tuple(even)], grid[tuple(odd)]
        u1 = max(x0, floor)
        log = nearest(mpmath.log(mpmath.mpf(float(u1))), kind)
        radius = np.sqrt(kind(kind(-2) * log))
        angle = mpmath.mpf(float(kind(two_pi * x1)))
        wave = nearest(mpmath.cos(angle) if J[s] % 2 else mpmath.sin(angle), kind)
        out.append(kind(kind(mu) + kind(kind(sigma) * kind(radius * wave))))
    return out


def rng_case(t, name, type_, dims, a, b, texts, distribution="rng_uniform", oracle="rational", options=None):
    t.gives(f"rng_{name}", f"""
        a = {type_}[] parameter(0)
        b = {type_}[] parameter(1)
        ROOT r = {shape(type_, dims)} rng(a, b), distribution={distribution}""",
            [f"{type_}[] {a}", f"{type_}[] {b}"], [value(type_, dims, texts)], oracle=oracle, options=options,
            decision="rng-stream")


def integer_draws(type_, a, b, count, seed=42):
    width = int(type_[1:])
    stream = words(seed, START, 2 * count)
    draws = [stream[2 * i] | stream[2 * i + 1] << 32 for i in range(count)] if width == 64 else stream[:count]
    return [str(a + d % (b - a)) for d in draws]


def distributions(t):
    f32, f64 = np.float32, np.float64
    spec = lambda *decimals: [hexadecimal(np.float32(d)) for d in decimals]
    rng_case(t, "uniform_spec", "f32", [4], 0, 1,
             spec("0.73908985", "0.23880374", "0.37510216", "0.07110906"), oracle="spec")
    rng_case(t, "uniform_spec_range", "f32", [4], -1, 3,
             spec("1.9563594", "-0.044785023", "0.50040865", "-0.7155638"), oracle="spec")
    rng_case(t, "uniform_spec_s32", "s32", [4], 10, 20, ["17", "17", "19", "16"], oracle="spec")
    rng_case(t, "uniform_spec_f64", "f64", [2], 0, 1,
             [float(d).hex() for d in ("0.23880381317322352", "0.07110917157845154")],
             oracle="spec")
    t.gives("rng_uniform_spec_second_draw", """
        a = f32[] constant(0)
        b = f32[] constant(1)
        d = f32[4] rng(a, b), distribution=rng_uniform
        ROOT r = f32[4] rng(a, b), distribution=rng_uniform""",
            outs=[value("f32", [4], spec("0.72645044", "0.61698675", "0.981657", "0.51298213"))],
            oracle="spec")
    for kind, type_ in ((f32, "f32"), (f64, "f64")):
        for name, a, b, dims in (("wide", -1e30, 1e30, [2, 3]), ("tenths", 0.1, 0.3, [5]),
                                 ("scalar", 5, 6, []),
                                 ("next", 1, float(np.nextafter(kind(1), kind(2))), [4]),
                                 ("zero_size", 0, 1, [2, 0])):
            rng_case(t, f"uniform_{type_}_{name}", type_, dims, hexadecimal(kind(a)), hexadecimal(kind(b)),
                     [hexadecimal(v) for v in uniform(kind, a, b, dims)])
    rng_case(t, "uniform_seed", "f32", [3], 0, 1, [hexadecimal(v) for v in uniform(f32, 0, 1, [3], seed=7)],
             options="--seed 7")
    for type_ in ("f16", "bf16", "f8e5m2", "f8e4m3fn"):
        rng_case(t, f"uniform_{type_}", type_, [12], -2, 3,
                 [hexadecimal(v) for v in uniform_narrow(type_, -2, 3, 12)])
    bits = words(42, START, 40)
    rng_case(t, "uniform_pred", "pred", [40], "false", "true",
             ["true" if bits[i] & 1 else "false" for i in range(40)])
    rng_case(t, "uniform_pred_equal", "pred", [2, 2], "true", "true",
             ["true" if bits[i] & 1 else "false" for i in range(4)])
    for type_, a, b in (("s8", -128, 127), ("u8", 0, 255), ("s16", -5, 5), ("u32", 0, 4294967295),
                        ("s64", -2**63, 2**63 - 1),
                        ("u64", 3, 10), ("s4", -8, 7), ("u2", 0, 3), ("s32", -2147483648, 2147483647)):
        rng_case(t, f"uniform_{type_}", type_, [9], a, b, integer_draws(type_, a, b, 9))
    rng_case(t, "uniform_empty_range", "f32", [3], 2, 2, ["2"] * 3)
    rng_case(t, "uniform_reversed", "f32", [2], 2, "-0.0", ["2"] * 2)
    rng_case(t, "uniform_nan_high", "f32", [2], 2, "nan", ["2"] * 2)
    rng_case(t, "uniform_nan_low", "f32", [2], "nan", 2, ["nan"] * 2)
    rng_case(t, "uniform_reversed_s32", "s32", [2], 7, 5, ["7"] * 2)
    rng_case(t, "uniform_reversed_u64", "u64", [2], 7, 5, ["7"] * 2)
    rng_case(t, "normal_spec", "f32", [2], 0, 1, [hexadecimal(v) for v in normal(f32, 0, 1, [2])],
             "rng_normal", "mpmath")
    assert [f"{v:.5f}" for v in normal(f32, 0, 1, [2])] == ["0.77568", "0.05466"]
    for kind, type_ in ((f32, "f32"), (f64, "f64")):
        for name, mu, sigma, dims in (("odd", 0, 1, [5]), ("matrix", 1, 2, [3, 4]), ("rows", 0, 1, [2, 3]),
                                      ("scalar", -3, 0.5, []),
                                      ("cube", 0, 1, [3, 3, 3]), ("negative_sigma", 0, -1, [4]),
                                      ("zero_size", 0, 1, [0])):
            rng_case(t, f"normal_{type_}_{name}", type_, dims, mu, sigma,
                     [hexadecimal(v) for v in normal(kind, mu, sigma, dims)], "rng_normal", "mpmath")
    rng_case(t, "normal_zero_sigma", "f32", [3], 5, 0, ["5"] * 3, "rng_normal", "hand")
    rng_case(t, "normal_nan_mu", "f32", [2], "nan", 1, ["nan"] * 2, "rng_normal", "hand")
    rng_case(t, "normal_f16", "f16", [6], 0, 1, [hexadecimal(np.float16(v)) for v in normal(f32, 0, 1, [6])],
             "rng_normal", "mpmath")

    def refuse(name, code, text, type_, result, distribution="rng_uniform"):
        t.refuses(f"rng_{name}", code, text, f"""
            a = {type_} parameter(0)
            ROOT r = {result} rng(a, a), distribution={distribution}""")
    refuse("uniform_c1_type", 3, "RngUniform-C1: operand 0 is f64[]", "f64[]", "f32[2]")
    refuse("uniform_c1_scalar", 3, "RngUniform-C1: operand 0 is f32[1]", "f32[1]", "f32[1]")
    refuse("uniform_c2_complex", 3, "RngUniform-C2: element type is c64", "c64[]", "c64[2]")
    refuse("uniform_c3", 3, "RngUniform-C3: the result is (f32[2])", "f32[]", "(f32[2])")
    refuse("normal_c1", 3, "RngNormal-C1: operand 0 is f64[]", "f64[]", "f32[2]", "rng_normal")
    refuse("normal_c2_s32", 3, "RngNormal-C2: element type is s32", "s32[]", "s32[2]", "rng_normal")
    refuse("normal_c2_pred", 3, "RngNormal-C2: element type is pred", "pred[]", "pred[2]", "rng_normal")
    refuse("distribution", 3, "found 'rng_dice'", "f32[]", "f32[2]", "rng_dice")


def table():
    t = Table("random")
    generators(t)
    states(t)
    distributions(t)
    return t
