// Tables and polynomials of the proven functions. Written by tools/make_proven_coefficients.py, which says how
// they are made and measured; not to be edited.
#ifndef ASSAY_EVALUATOR_NATIVE_SCALAR_PROVEN_COEFFICIENTS_H_
#define ASSAY_EVALUATOR_NATIVE_SCALAR_PROVEN_COEFFICIENTS_H_

#include <cstdint>

// clang-format off
namespace assay::native {

inline constexpr double kExp16Steps = 0x1.71547652b82fep+4;  // 16 / ln 2
inline constexpr double kExp16Step = 0x1.62e42fefa39efp-5, kExp16StepRest = 0x1.abc9e3b39803fp-60;
// The patterns of 2^(i / 16), less i 2^48: adding k 2^48 gives 2^(k / 16), i = k mod 16.
alignas(64) inline constexpr uint64_t kExp16Table[] = {
    0x3ff0000000000000, 0x3fefb5586cf9890f, 0x3fef72b83c7d517b, 0x3fef387a6e756238,
    0x3fef06fe0a31b715, 0x3feedea64c123422, 0x3feebfdad5362a27, 0x3feeab07dd485429,
    0x3feea09e667f3bcd, 0x3feea11473eb0187, 0x3feeace5422aa0db, 0x3feec49182a3f090,
    0x3feee89f995ad3ad, 0x3fef199bdd85529c, 0x3fef5818dcfba487, 0x3fefa4afa2a490da,
};
// q(x) with e^x - 1 = x + x^2 q(x); the error is relative to e^x - 1, -0.02168251 <= x <= 0.02168251; relative error 2^-49.5.
inline constexpr double kExp16Polynomial[] = {
    0x1.0000000000000p-1, 0x1.55555554dcc9bp-3, 0x1.55555555190f9p-5, 0x1.11120b77051e7p-7,
    0x1.6c17bbd1f560ap-10,
};

// The pattern of the least z, and for each of its 16 intervals c near 1 / z (of 10 bits), and -log c.
inline constexpr uint64_t kLog16Start = 0x3fe6800000000000;
// c.
alignas(64) inline constexpr double kLog16Inverse[] = {
    0x1.6400000000000p+0, 0x1.5580000000000p+0, 0x1.4780000000000p+0, 0x1.3b00000000000p+0,
    0x1.2f80000000000p+0, 0x1.2480000000000p+0, 0x1.1a80000000000p+0, 0x1.1100000000000p+0,
    0x1.0880000000000p+0, 0x1.0000000000000p+0, 0x1.e200000000000p-1, 0x1.c700000000000p-1,
    0x1.af00000000000p-1, 0x1.9a00000000000p-1, 0x1.8600000000000p-1, 0x1.7400000000000p-1,
};
// -log c.
alignas(64) inline constexpr double kLog16Table[] = {
    -0x1.51aad872df82dp-2, -0x1.27161913f853dp-2, -0x1.f871b28955045p-3, -0x1.a8becfc882f19p-3,
    -0x1.5c940075972b9p-3, -0x1.10f8e422539b1p-3, -0x1.9375e55595edep-4, -0x1.075983598e471p-4,
    -0x1.0b94f7c196176p-5, 0.0, 0x1.eea31c006b87cp-5, 0x1.e3707ee30487bp-4,
    0x1.60b3100b09476p-3, 0x1.c6ffbc6f00f71p-3, 0x1.16b5ccbacfb73p-2, 0x1.4718dc271c41bp-2,
};
// q(x) with log(1 + x) = x + x^2 q(x); the error is relative to log(1 + x), -0.029174805 <= x <= 0.03125; relative error 2^-55.8.
inline constexpr double kLog16Polynomial[] = {
    -0x1.ffffffffffff7p-2, 0x1.5555555555807p-2, -0x1.0000000050581p-2, 0x1.9999998b8bf50p-3,
    -0x1.555547c7f76b2p-3, 0x1.2492d39d516d1p-3, -0x1.005e0ef6cbe12p-3, 0x1.c466498302c05p-4,
};

// q(x) with sin r = r + r^3 q(r^2); the error is relative to sin r, 0.0 <= x <= 0.61697365; relative error 2^-55.5.
inline constexpr double kSin6[] = {
    -0x1.5555555555555p-3, 0x1.1111111110bb1p-7, -0x1.a01a019e8357dp-13, 0x1.71de37961e4c6p-19,
    -0x1.ae600a926c89ap-26, 0x1.5e0af186af739p-33,
};
// q(x) with cos r = 1 - r^2 / 2 + r^4 q(r^2); the error is relative to cos r, 0.0 <= x <= 0.61697365; relative error 2^-59.5.
inline constexpr double kCos6[] = {
    0x1.5555555555555p-5, -0x1.6c16c16c16966p-10, 0x1.a01a019f4e867p-16, -0x1.27e4fa17a41b4p-22,
    0x1.1eeb68b109173p-29, -0x1.907d7aebd5e3dp-37,
};
inline constexpr double kQuarters = 0x1.45f306dc9c883p-1;  // 2 / pi
inline constexpr double kQuarter = 0x1.921fb54442d18p+0, kQuarterRest = 0x1.1a62633145c07p-54;  // pi / 2

// Coefficient j of erf(c + t) by powers of t, |t| <= 0.130859, c = i 0.26171875, 0 <= i < 16; relative error 2^-52.3.
inline constexpr double kErf16Spacing = 0x1.0c00000000000p-2, kErf16PerUnit = 0x1.e9131abf0b767p+1;
inline constexpr int kErf16Degree = 12;
alignas(64) inline constexpr double kErf16[][16] = {
    {0.0, 0x1.27a3ffab08551p-2, 0x1.14eab43841b55p-1, 0x1.776148a83926bp-1, 0x1.b8f741ef54f83p-1, 0x1.df1e355e9695fp-1, 0x1.f27ff89525acfp-1, 0x1.fb193fba13d9bp-1, 0x1.fe6e1742f7cf6p-1, 0x1.ff8ea1f9159b2p-1, 0x1.ffe3e19349dc7p-1, 0x1.fff9dfdfe66e0p-1, 0x1.fffed443e2787p-1, 0x1.ffffcdc52f4c4p-1, 0x1.fffff89ffc4aap-1, 0x1.ffffff0d41453p-1},
    {0x1.20dd750429b6dp+0, 0x1.0dbdbf3bdae43p+0, 0x1.b745c55905bf8p-1, 0x1.37e2b8267bee5p-1, 0x1.822e655b417e6p-2, 0x1.a0f50c3941cdep-3, 0x1.888d1d8e510a3p-4, 0x1.42426dcbeac6ap-5, 0x1.cd5ec93c12432p-7, 0x1.1ffbd7c8c5a48p-8, 0x1.397ced7af2b14p-10, 0x1.29900721204e9p-12, 0x1.ec929a665b44ep-15, 0x1.637f68c73419fp-17, 0x1.bf716c6168bdcp-20, 0x1.eb11e2c6c96f1p-23},
    {0.0, -0x1.1a62a432a926ep-2, -0x1.cbdd0a9932048p-2, -0x1.e9c2052c6e9c4p-2, -0x1.9448921b88905p-2, -0x1.10d0557f768e4p-2, -0x1.3436cc34bda10p-3, -0x1.2731d9934a8efp-4, -0x1.e2ff3aaae31e4p-6, -0x1.532b1aa2f4c55p-7, -0x1.9a3a7ac3e3961p-9, -0x1.ac53d2432f013p-11, -0x1.82bf1b3a5da8dp-13, -0x1.2e619f5f70901p-15, -0x1.99dd65c73a6f9p-18, -0x1.e1f54dd199344p-21},
    {-0x1.812746b037977p-2, -0x1.366273a9a2530p-2, -0x1.08c017bbc786ep-3, 0x1.83789f8779ec0p-5, 0x1.32dbb30998542p-3, 0x1.51047bc4a4fa9p-3, 0x1.013c8384d3aefp-3, 0x1.32d3d01a9337fp-4, 0x1.2aa4e5824245dp-5, 0x1.e49a61326e23fp-7, 0x1.4bc1f0a4a5cf4p-8, 0x1.823dc4d90b95dp-10, 0x1.8059f4bcd5fc6p-12, 0x1.481f680c44cffp-14, 0x1.e1f2587542b90p-17, 0x1.311cf65bd56e5p-19},
    {0.0, 0x1.0d7d8711d6359p-3, 0x1.77dda29c46851p-3, 0x1.207a22201de64p-3, 0x1.b39adc180010fp-5, -0x1.3511afdc2c5d0p-6, -0x1.8cee521c2c052p-5, -0x1.6d5225de7e184p-5, -0x1.d049824fc471ep-6, -0x1.c9ad73429308ap-7, -0x1.6dc3b57179887p-8, -0x1.e4969c248fdfcp-10, -0x1.0d8c098e11ca2p-11, -0x1.fbcbd2f0f87a4p-14, -0x1.9750b58c26417p-16, -0x1.175ec98b8f1fdp-18},
    {0x1.ce2f219ff858ap-4, 0x1.3c0975b6e65a1p-4, 0x1.74d88c6833790p-12, -0x1.dea40453a767dp-5, -0x1.1351d7e7b7fe1p-4, -0x1.438826b293fadp-5, -0x1.dae42b944be7ep-8, 0x1.4e760b8eb20a4p-7, 0x1.a34eda100d617p-7, 0x1.1dd64f0982613p-7, 0x1.1b61e68dea8d8p-8, 0x1.ba294e5a4773fp-10, 0x1.18f73a7e632e4p-11, 0x1.28522f55da6fbp-13, 0x1.0656f8028cf95p-15, 0x1.88ee805545d20p-18},
    {0.0, -0x1.5699258b8dac6p-5, -0x1.916e84bff5eb8p-5, -0x1.6ce1193412515p-6, 0x1.2ff4a107fbe68p-7, 0x1.6caa8f9687aafp-6, 0x1.11d729a0f7965p-6, 0x1.72db12f124ba3p-8, -0x1.682d8cfc03651p-10, -0x1.99849548b8fc6p-9, -0x1.2b5e702af866bp-9, -0x1.2717137c50d6ep-10, -0x1.bc837b3d42eb6p-12, -0x1.0c5b18e361ed0p-13, -0x1.0a19dbc3f5024p-15, -0x1.b7b06cbae226cp-18},
    {-0x1.b82ce1f0dda50p-6, -0x1.f3806619f7ef5p-7, 0x1.dabc6a459ff99p-8, 0x1.35c71297468ebp-6, 0x1.b180d208378fep-7, 0x1.1b84dfbae6a67p-10, -0x1.7a60625dbf232p-8, -0x1.6163140724f1dp-8, -0x1.239bf3f20914dp-9, 0x1.b02241b8b0196p-16, 0x1.63a861bdfea24p-11, 0x1.12e5885faa2c4p-11, 0x1.09140fb13fee9p-12, 0x1.7ca196b167a56p-14, 0x1.b039ac6776857p-16, 0x1.8f9f7bcb7c914p-18},
    {0.0, 0x1.46567cb51a2a5p-7, 0x1.3905c1af80c9ep-7, 0x1.161e90687e59cp-10, -0x1.652db17d642cbp-8, -0x1.4fc25f85692fbp-8, -0x1.58b65b1594314p-10, 0x1.498a2823138d2p-10, 0x1.7e7598419467fp-10, 0x1.57102dc1614d7p-11, 0x1.7e56bf1346b39p-15, -0x1.1d8862eaeff56p-13, -0x1.c3800708ca3b9p-14, -0x1.a17ff4f3f374ap-15, -0x1.19e1c00a3acabp-16, -0x1.29fd2dd7f3475p-18},
    {0x1.5659cf1cee528p-8, 0x1.3893e0341bce2p-9, -0x1.4a3f7399ad4acp-9, -0x1.fa211f142d1fap-9, -0x1.55f95a9d1b313p-10, 0x1.4f68a14efcc99p-10, 0x1.9e94e20c00d8ep-10, 0x1.196727062b2fap-11, -0x1.022c05691a848p-12, -0x1.6c662e7bd306cp-12, -0x1.4c399aa91ec47p-13, -0x1.f23c9c6d4bdd6p-17, 0x1.b3c225eedfa18p-16, 0x1.4f491c33fc885p-16, 0x1.22f4375b906b8p-17, 0x1.6c84c2178d21dp-19},
    {0.0, -0x1.f0d5f47342e3fp-10, -0x1.7808bacf9758cp-10, 0x1.b60842e1a12a3p-12, 0x1.459614cae79acp-10, 0x1.2df4964f90a58p-11, -0x1.13aced6ac4054p-12, -0x1.b88b5ae678cc8p-12, -0x1.47b9402421be9p-13, 0x1.8d792c8c5bc7dp-15, 0x1.39cdf58ca7f9ep-14, 0x1.12c3e2ae15899p-15, 0x1.7aea8fa87ceb8p-19, -0x1.3ecfc8066dfe0p-18, -0x1.c3f4b8e611d9ap-19, -0x1.6882cbb3b0071p-20},
    {-0x1.bcf19afa092efp-11, -0x1.38de590bd984ep-12, 0x1.1d1a2df8b44bfp-11, 0x1.2a290a96e652bp-11, -0x1.62808ba16ad74p-16, -0x1.68415ac7f6ee3p-12, -0x1.80bf63e670122p-13, 0x1.ab8d52be186fbp-15, 0x1.a00e052a8d98dp-14, 0x1.3403e7d9f3816p-15, -0x1.3ce80e508c27bp-17, -0x1.eb9a1f1194ab8p-17, -0x1.8b0f222a8d4c1p-18, -0x1.7d66d224dc55dp-22, 0x1.b6f8bd0b51fc3p-21, 0x1.1446029d76bbbp-21},
    {0.0, 0x1.387a12852f2fep-12, 0x1.6195454c2f822p-13, -0x1.1ed6aaa991a7fp-13, -0x1.80013bf3c7018p-13, -0x1.97d0d90d8207ep-17, 0x1.6dd2da2227987p-14, 0x1.90167968ffbd5p-15, -0x1.6d4c5f2ef186ap-17, -0x1.678300e7bb191p-16, -0x1.dfc4c2ce1604dp-18, 0x1.13fc28119b503p-19, 0x1.615343ad872f4p-19, 0x1.e9f200a259550p-21, 0x1.5f2eeb6c92f60p-27, -0x1.1be9243e3d109p-23},
};

}  // namespace assay::native
// clang-format on

#endif  // ASSAY_EVALUATOR_NATIVE_SCALAR_PROVEN_COEFFICIENTS_H_
