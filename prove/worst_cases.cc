#include "prove/worst_cases.h"

namespace assay::prove {
namespace {

constexpr double kExp[] = {-0x1.fd58bdef05847p+0,  -0x1.fd668d9d86283p+6, -0x1.fd7473ea3d816p+8,
                           -0x1.fdb32026a7545p-1,  -0x1.fe6c9574f16e9p+3, -0x1.feb764f7947c9p+2,
                           -0x1.ff171507f8ba5p-30, -0x1.ff43ee151a114p+4, 0x1.0122ef37212ebp-1,
                           0x1.6fbce05407de8p+0,   0x1.5ea09434b2dbp-1,   0x1.303239b51efbp+0};
constexpr double kExpm1[] = {-0x1.3001af273afcp-38,  -0x1.8c6b70017d746p-22, 0x1.c48c6001f0ac7p-49,
                             -0x1.b07fed0f18088p-40, -0x1.78a2a800a78ap-22,  -0x1.6920f2001ba65p-20,
                             -0x1.196b3000b57e7p-23, -0x1.2297360014feap-20};
constexpr double kLog[] = {0x1.a702b2ce91b3p+0,  0x1.a6cc2514c813ep+0, 0x1.a6ae5142326b5p+0,
                           0x1.a70a354de68e9p+0, 0x1.a6b3c14b182c2p+0, 0x1.a180d285a8cdap+1};
constexpr double kLog1p[] = {-0x1.ffffffffffff7p-49, -0x1.ffffffffffff9p-50, -0x1.ffffffffffffbp-50,
                             -0x1.ffffffffffffdp-51, -0x1.fffffffffffffp-52};
constexpr double kSin[] = {0x1.f7e3ed344f5a9p+7, 0x1.f7e9e8b240178p+7, 0x1.f8456526811f5p+7,
                           0x1.f87d6fdde170cp+7, 0x1.f8f0eb06b0b41p+7, 0x1.f9ae9db2c4bbep+7};
constexpr double kCos[] = {0x1.57c1d083dbf66p+10, 0x1.57d0642f4a336p+10, 0x1.58129567fd0d2p+10,
                           0x1.582d779b53224p+10, 0x1.58a02f46988d6p+10};
constexpr double kTan[] = {0x1.900943fdb0659p+0, 0x1.9079e5b17558p+0,  0x1.90ceb8dd623c5p+0,
                           0x1.90f422b49115ep+0, 0x1.9137baef86fdcp+0, 0x1.91beeb637f56p+0};
constexpr double kTanh[] = {0x1.fdb2b00d14a5fp-22, 0x1.fdd2f82b922d4p-22, 0x1.ff551c52172edp-22,
                            0x1.ef6d7e9c3ab8ep-22, 0x1.94503a1406f71p+3,  0x1.947b5c7429947p+3};
constexpr double kSinh[] = {0x1.7137449123effp-26, 0x1.d12ed0af1a28p-26,  0x1.250bfe1b082fp-25,
                            0x1.4f747439b348p-25,  0x1.7137449123ef6p-25, 0x1.8db9cb7511e9bp-25};
constexpr double kCosh[] = {0x1.2aa049b930a7ep-15, 0x1.2b1366f7d667cp-15, 0x1.2bffffffbb55ep-15,
                            0x1.2da93c6fa1847p-15, 0x1.2de8f6a4bc43fp-15};
constexpr double kAsin[] = {0x1.7137449123effp-26, 0x1.d12ed0af1a28p-26,  0x1.250bfe1b082fp-25,
                            0x1.4f747439b348p-25,  0x1.7137449123ef6p-25, 0x1.8db9cb7511e9bp-25};
constexpr double kAcos[] = {0x1.fece3319e4315p-1, 0x1.fdb09ba01dbebp-1, 0x1.fe091232e1f82p-1,
                            0x1.ff93f84e0f9d6p-1, 0x1.ff08f4f87ec0ap-1, 0x1.ffd766ba870a9p-1};
constexpr double kAsinh[] = {0x1.cb3b183bc199bp+1023, 0x1.d43176b70641ap+1023, 0x1.dca8a3de5d43ep+1023,
                             0x1.ecc374a0b1aacp+1023, 0x1.edf3606885937p+1023};
constexpr double kAtanh[] = {0x1.fd338f7b584dcp-1, 0x1.fd86297b1aad7p-1, 0x1.fdfc242e11011p-1};
constexpr double kErf[] = {0x1.fe951e8c42b52p-1023, 0x1.fe7ec16414ba6p-1023, 0x1.fe98d8bd9fb44p-1023,
                           0x1.fe827b9571b98p-1023, 0x1.fe91645ae5b6p-1023};
constexpr double kCbrt[] = {0x1.9b77e69493ba8p1, 0x1.9b78223aa307cp1, 0x1.7b97ec4239e11p1,
                            0x1.c7aa59329fd9ap1, 0x1.b7abfd282ff33p1, 0x1.d7c1819bc932ep1};
constexpr double kRsqrt[] = {0x1.fd05469ca43fdp+0, 0x1.fbef9d5d5b97ep+0, 0x1.fd83305858c0fp+0,
                             0x1.ff92b3c01855ap+0, 0x1.ff836606e86b5p+0, 0x1.fcbd5f9640a0fp+0};

constexpr WorstCases1 kCases[] = {
    {"exp", kExp},   {"expm1", kExpm1}, {"log", kLog},     {"log1p", kLog1p}, {"sin", kSin},
    {"cos", kCos},   {"tan", kTan},     {"tanh", kTanh},   {"sinh", kSinh},   {"cosh", kCosh},
    {"asin", kAsin}, {"acos", kAcos},   {"asinh", kAsinh}, {"acosh", kAsinh}, {"atanh", kAtanh},
    {"erf", kErf},   {"cbrt", kCbrt},   {"rsqrt", kRsqrt},
};

constexpr WorstCase2 kPairs[] = {
    {"pow", 0x1.ffffffffffffcp-1, 0x1.fffffffffffffp-2},
    {"pow", 0x1.ffffffffffffcp-1, -0x1.ffffffffffffdp-2},
    {"pow", 0x1.ffffffffffffp-1, -0x1.ffffffffffff6p-3},
    {"pow", 0x1.ffffffffffff8p-1, -0x1.ffffffffffffbp-3},
    {"atan2", 0x1.ae553c5588abcp-793, -0x1.3f84f3081138bp-738},
    {"atan2", -0x1.ae553c5588abcp-793, -0x1.3f84f3081138bp-738},
    {"atan2", 0x1.fffffffffffffp-790, -0x1.0000000000001p-733},
    {"atan2", 0x1p-1022, 0x1p+53},
};

}  // namespace

std::span<const WorstCases1> WorstCases() { return kCases; }
std::span<const WorstCase2> WorstPairs() { return kPairs; }

}  // namespace assay::prove
