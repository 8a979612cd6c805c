// gesdd, gesvd, syevd, geev, gees and their complex forms.
#include <algorithm>
#include <cstring>

#include "custom/lapack/exact_routines.h"
#include "custom/lapack/routines.h"
#include "evaluator/bounds/rules.h"
#include "evaluator/ops/control/call_config.h"
#include "fmt/format.h"

namespace assay::custom {
namespace {

// ---- gesdd(a), gesvd(a) = (a destroyed, S, U, V*, info): a = U diag(S) V*
// ---------------------------------------------
//
// mode: 'A' gives all columns of U and V, 'S' the first min(m, n) of each, 'N' none:
// U and V* are zeros of either size.

constexpr ArrayRule kSvdResults[] = {{ArrayType::kElement, "mn", 0},
                                     {ArrayType::kReal, "k"},
                                     {ArrayType::kElement, "mp"},
                                     {ArrayType::kElement, "qn"},
                                     {ArrayType::kS32, ""}};
constexpr AttributeRule kSvdAttributes[] = {{"mode", AttributeRule::Kind::kLetter, "ASN"}};

absl::Status CheckSvd(const InferContext& context, LapackCall& call) {
  const int64_t m = call.size('m'), n = call.size('n'), k = std::min(m, n);
  call.size('k') = k;
  bool all = call.attributes[0] == 'A';
  if (call.attributes[0] == 'N') {
    // No operand and no attribute says which of the two U and V* are.
    ASSAY_ASSIGN_OR_RETURN(const Shape declared, context.Declared());
    const Shape* const u = SubshapeOrNull(declared, ShapeIndex{2});
    const Shape* const vt = SubshapeOrNull(declared, ShapeIndex{3});
    all = u != nullptr && vt != nullptr && u->IsArray() && vt->IsArray() && u->rank() >= 2 &&
          vt->rank() >= 2 && u->sizes().back() == m && vt->size(vt->rank() - 2) == n;
  }
  call.size('p') = all ? m : k;
  call.size('q') = all ? n : k;
  return absl::OkStatus();
}

// The largest of what the descriptions of the four gesdd and the four gesvd ask for in any mode.
Workspace WorkspaceOfSvd(const LapackCall& call) {
  const int64_t m = call.size('m'), n = call.size('n'), k = std::min(m, n), most = std::max(m, n);
  const bool vectors = call.attributes[0] != 'N';
  Workspace need{.elements = std::max<int64_t>(1, 7 * k + 3 * most), .ints = 8 * k};
  if (!vectors) {
    need.elements = std::max<int64_t>(1, 3 * k + std::max(most, 7 * k));
  } else {
    need.elements += 4 * k * k;
  }
  if (call.is_complex()) {
    need.reals = 7 * k;
    // 2 most k + 2 k k + k is needed where the sides differ by a factor below 2,
    // or below 17 / 9 in some versions.
    if (vectors) need.reals = std::max(5 * k * k + 5 * k, 2 * std::min(most, 2 * k + 1) * k + 2 * k * k + k);
  }
  return need;
}

// Of a matrix without rows or without columns the routines set nothing:
// the vectors of all of the space are its axes.
bool SetVectorsOfNothing(const LapackArguments& args) {
  if (args.size('k') > 0) return false;
  const bool asks_for_workspace = args.num_work < 0;  // there is no room for results then
  if (asks_for_workspace || args.letter(0) == 'N') return true;
  const int64_t bytes = Bytes(args.call.type);
  const double one = 1;
  const float single_one = 1;
  const bool is_single = args.call.type == ElementType::kF32 || args.call.type == ElementType::kC64;
  for (const int i : {2, 3}) {
    const int64_t n = args.size(i == 2 ? 'p' : 'q');
    char* const out = static_cast<char*>(args.out[i]);
    std::memset(out, 0, n * n * bytes);
    for (int64_t d = 0; d < n; ++d) {
      std::memcpy(out + d * (n + 1) * bytes, is_single ? static_cast<const void*>(&single_one) : &one,
                  is_single ? sizeof(float) : sizeof(double));
    }
  }
  return true;
}

int CallGesdd(const LapackArguments& args) {
  using Real = void (*)(Letter jobz, Int m, Int n, void* a, Int lda, void* s, void* u, Int ldu, void* vt,
                        Int ldvt, void* work, Int lwork, int* iwork, int* info, size_t);
  using Complex = void (*)(Letter jobz, Int m, Int n, void* a, Int lda, void* s, void* u, Int ldu, void* vt,
                           Int ldvt, void* work, Int lwork, void* rwork, int* iwork, int* info, size_t);
  if (SetVectorsOfNothing(args)) return 0;
  const char jobz = args.letter(0);
  const int m = args.size('m'), n = args.size('n'), lda = args.lead('m');
  const int ldu = args.lead('m'), ldvt = args.lead('q');
  int info = 0;
  if (args.call.is_complex()) {
    reinterpret_cast<Complex>(args.routine)(&jobz, &m, &n, args.out[0], &lda, args.out[1], args.out[2], &ldu,
                                            args.out[3], &ldvt, args.work, &args.num_work, args.reals,
                                            args.ints, &info, 1);
  } else {
    reinterpret_cast<Real>(args.routine)(&jobz, &m, &n, args.out[0], &lda, args.out[1], args.out[2], &ldu,
                                         args.out[3], &ldvt, args.work, &args.num_work, args.ints, &info, 1);
  }
  return info;
}

int CallGesvd(const LapackArguments& args) {
  using Real = void (*)(Letter jobu, Letter jobvt, Int m, Int n, void* a, Int lda, void* s, void* u, Int ldu,
                        void* vt, Int ldvt, void* work, Int lwork, int* info, size_t, size_t);
  using Complex =
      void (*)(Letter jobu, Letter jobvt, Int m, Int n, void* a, Int lda, void* s, void* u, Int ldu, void* vt,
               Int ldvt, void* work, Int lwork, void* rwork, int* info, size_t, size_t);
  if (SetVectorsOfNothing(args)) return 0;
  const char job = args.letter(0);
  const int m = args.size('m'), n = args.size('n'), lda = args.lead('m');
  const int ldu = args.lead('m'), ldvt = args.lead('q');
  int info = 0;
  if (args.call.is_complex()) {
    reinterpret_cast<Complex>(args.routine)(&job, &job, &m, &n, args.out[0], &lda, args.out[1], args.out[2],
                                            &ldu, args.out[3], &ldvt, args.work, &args.num_work, args.reals,
                                            &info, 1, 1);
  } else {
    reinterpret_cast<Real>(args.routine)(&job, &job, &m, &n, args.out[0], &lda, args.out[1], args.out[2],
                                         &ldu, args.out[3], &ldvt, args.work, &args.num_work, &info, 1, 1);
  }
  return info;
}

// ---- syevd(a) = (V, eigenvalues in ascending order, info): a V = V diag(w);
// of a only the triangle uplo is read -------

constexpr ArrayRule kEighResults[] = {
    {ArrayType::kElement, "nn", 0}, {ArrayType::kReal, "n"}, {ArrayType::kS32, ""}};
constexpr AttributeRule kEighAttributes[] = {{"mode", AttributeRule::Kind::kLetter, "VN"},
                                             {"uplo", AttributeRule::Kind::kLetter, "LU"}};

Workspace WorkspaceOfEigh(const LapackCall& call) {
  const int64_t n = call.size('n');
  const bool vectors = call.attributes[0] == 'V';
  const int64_t real = vectors ? 1 + 6 * n + 2 * n * n : 1 + 2 * n;
  Workspace need{.elements = real, .ints = vectors ? 3 + 5 * n : 1};
  if (call.is_complex()) {
    need.elements = vectors ? 1 + 2 * n + n * n : 1 + n;
    need.reals = vectors ? 1 + 5 * n + 2 * n * n : 1 + n;
  }
  return need;
}

int CallSyevd(const LapackArguments& args) {
  using Real = void (*)(Letter jobz, Letter uplo, Int n, void* a, Int lda, void* w, void* work, Int lwork,
                        int* iwork, Int liwork, int* info, size_t, size_t);
  using Complex = void (*)(Letter jobz, Letter uplo, Int n, void* a, Int lda, void* w, void* work, Int lwork,
                           void* rwork, Int lrwork, int* iwork, Int liwork, int* info, size_t, size_t);
  const char jobz = args.letter(0), uplo = args.letter(1);
  const int n = args.size('n'), lda = args.lead('n');
  int info = 0;
  if (args.call.is_complex()) {
    reinterpret_cast<Complex>(args.routine)(&jobz, &uplo, &n, args.out[0], &lda, args.out[1], args.work,
                                            &args.num_work, args.reals, &args.num_reals, args.ints,
                                            &args.num_ints, &info, 1, 1);
  } else {
    reinterpret_cast<Real>(args.routine)(&jobz, &uplo, &n, args.out[0], &lda, args.out[1], args.work,
                                         &args.num_work, args.ints, &args.num_ints, &info, 1, 1);
  }
  return info;
}

// ---- geev(a) = (eigenvalues, VL, VR, info): a VR = VR diag(w), VL* a = diag(w) VL*
// ------------------------------------
//
// Of a real matrix the eigenvalues are two results, real and imaginary parts. Vectors are always complex;
// those that are not asked for are zeros.

constexpr ArrayRule kRealEigResults[] = {{ArrayType::kElement, "n"},
                                         {ArrayType::kElement, "n"},
                                         {ArrayType::kComplex, "nn"},
                                         {ArrayType::kComplex, "nn"},
                                         {ArrayType::kS32, ""}};
constexpr ArrayRule kComplexEigResults[] = {{ArrayType::kElement, "n"},
                                            {ArrayType::kElement, "nn"},
                                            {ArrayType::kElement, "nn"},
                                            {ArrayType::kS32, ""}};
constexpr AttributeRule kEigAttributes[] = {{"compute_left", AttributeRule::Kind::kLetter, "VN"},
                                            {"compute_right", AttributeRule::Kind::kLetter, "VN"}};

Workspace WorkspaceOfEig(const LapackCall& call) {
  const int64_t n = call.size('n'), least = std::max<int64_t>(1, 4 * n);
  // LAPACK's real vectors: one for a real eigenvalue, the real and the imaginary part for a pair.
  return {.elements = least, .reals = call.is_complex() ? 2 * n : 2 * n * n};
}

template <typename T>
void UnpackVectors(int64_t n, const T* imaginary, const T* packed, T* vectors) {
  for (int64_t j = 0; j < n; ++j) {
    const bool is_pair = imaginary[j] != 0 && j + 1 < n;
    const T* const re = packed + j * n;
    for (int64_t i = 0; i < n; ++i) {
      T* const value = vectors + 2 * (j * n + i);
      const T im = is_pair ? re[n + i] : T{0};
      value[0] = re[i];
      value[1] = im;
      if (!is_pair) continue;
      value[2 * n] = re[i];
      value[2 * n + 1] = -im;
    }
    j += is_pair;
  }
}

// Vectors of the sides that were asked for.
template <typename T>
void UnpackSides(const LapackArguments& args) {
  const int64_t n = args.size('n');
  for (const int side : {0, 1}) {
    if (args.letter(side) != 'V') continue;
    UnpackVectors(n, static_cast<const T*>(args.out[1]), static_cast<const T*>(args.reals) + side * n * n,
                  static_cast<T*>(args.out[2 + side]));
  }
}

int CallRealGeev(const LapackArguments& args) {
  using Fn = void (*)(Letter jobvl, Letter jobvr, Int n, void* a, Int lda, void* wr, void* wi, void* vl,
                      Int ldvl, void* vr, Int ldvr, void* work, Int lwork, int* info, size_t, size_t);
  const char left = args.letter(0), right = args.letter(1);
  const int n = args.size('n'), lda = args.lead('n');
  char* const packed = static_cast<char*>(args.reals);
  int info = 0;
  reinterpret_cast<Fn>(args.routine)(&left, &right, &n, args.in[0], &lda, args.out[0], args.out[1], packed,
                                     &lda, packed + int64_t{n} * n * Bytes(args.call.type), &lda, args.work,
                                     &args.num_work, &info, 1, 1);
  if (args.num_work >= 0)
    args.call.type == ElementType::kF32 ? UnpackSides<float>(args) : UnpackSides<double>(args);
  return info;
}

int CallComplexGeev(const LapackArguments& args) {
  using Fn = void (*)(Letter jobvl, Letter jobvr, Int n, void* a, Int lda, void* w, void* vl, Int ldvl,
                      void* vr, Int ldvr, void* work, Int lwork, void* rwork, int* info, size_t, size_t);
  const char left = args.letter(0), right = args.letter(1);
  const int n = args.size('n'), lda = args.lead('n');
  int info = 0;
  reinterpret_cast<Fn>(args.routine)(&left, &right, &n, args.in[0], &lda, args.out[0], args.out[1], &lda,
                                     args.out[2], &lda, args.work, &args.num_work, args.reals, &info, 1, 1);
  return info;
}

// ---- gees(a) = (T, Z, eigenvalues, 0, info): a Z = Z T; T triangular,
// of a real matrix with blocks of 2 x 2 -----------

constexpr ArrayRule kRealSchurResults[] = {{ArrayType::kElement, "nn", 0}, {ArrayType::kElement, "nn"},
                                           {ArrayType::kElement, "n"},     {ArrayType::kElement, "n"},
                                           {ArrayType::kS32, ""},          {ArrayType::kS32, ""}};
constexpr ArrayRule kComplexSchurResults[] = {{ArrayType::kElement, "nn", 0},
                                              {ArrayType::kElement, "nn"},
                                              {ArrayType::kElement, "n"},
                                              {ArrayType::kS32, ""},
                                              {ArrayType::kS32, ""}};
// The eigenvalues that 'S' would sort to the front are said by a function, which no attribute is.
constexpr AttributeRule kSchurAttributes[] = {{"mode", AttributeRule::Kind::kLetter, "VN"},
                                              {"sort", AttributeRule::Kind::kLetter, "N"}};

Workspace WorkspaceOfSchur(const LapackCall& call) {
  const int64_t n = call.size('n');
  return {.elements = std::max<int64_t>(1, 3 * n), .reals = call.is_complex() ? n : 0, .ints = n};
}

int CallRealGees(const LapackArguments& args) {
  using Fn =
      void (*)(Letter jobvs, Letter sort, void* select, Int n, void* a, Int lda, int* sdim, void* wr,
               void* wi, void* vs, Int ldvs, void* work, Int lwork, int* bwork, int* info, size_t, size_t);
  const char mode = args.letter(0), sort = 'N';
  const int n = args.size('n'), lda = args.lead('n');
  int info = 0;
  reinterpret_cast<Fn>(args.routine)(&mode, &sort, nullptr, &n, args.out[0], &lda,
                                     static_cast<int*>(args.out[4]), args.out[2], args.out[3], args.out[1],
                                     &lda, args.work, &args.num_work, args.ints, &info, 1, 1);
  return info;
}

int CallComplexGees(const LapackArguments& args) {
  using Fn =
      void (*)(Letter jobvs, Letter sort, void* select, Int n, void* a, Int lda, int* sdim, void* w, void* vs,
               Int ldvs, void* work, Int lwork, void* rwork, int* bwork, int* info, size_t, size_t);
  const char mode = args.letter(0), sort = 'N';
  const int n = args.size('n'), lda = args.lead('n');
  int info = 0;
  reinterpret_cast<Fn>(args.routine)(&mode, &sort, nullptr, &n, args.out[0], &lda,
                                     static_cast<int*>(args.out[3]), args.out[2], args.out[1], &lda,
                                     args.work, &args.num_work, args.reals, args.ints, &info, 1, 1);
  return info;
}

void BoundOfSvd(BoundContext& c) { bound::Spectrum(c, {.values = 1, .info = 4}); }
void BoundOfEigh(BoundContext& c) {
  const std::optional<int64_t> uplo = ConfigInteger(c.view().instruction, "uplo");
  bound::Spectrum(c, {.values = 1, .info = 2, .lower = uplo == 'L'});
}

// Where NaN and infinity must not come: reductions scale by the largest element, loops look for what becomes
// small, and LAPACK's own checks of such factors end the process.
constexpr Routine kSpectral[] = {
    {.name = "gesdd",
     .types = "sdcz",
     .operands = kOneMatrix,
     .results = kSvdResults,
     .attributes = kSvdAttributes,
     .check = CheckSvd,
     .workspace = WorkspaceOfSvd,
     .invoke = CallGesdd,
     .exact = ExactSvd,
     .bound = BoundOfSvd,
     .finite = 4},
    {.name = "gesvd",
     .types = "sdcz",
     .operands = kOneMatrix,
     .results = kSvdResults,
     .attributes = kSvdAttributes,
     .check = CheckSvd,
     .workspace = WorkspaceOfSvd,
     .invoke = CallGesvd,
     .exact = ExactSvd,
     .bound = BoundOfSvd,
     .finite = 5},
    {.name = "syevd",
     .types = "sd",
     .operands = kSquare,
     .results = kEighResults,
     .attributes = kEighAttributes,
     .workspace = WorkspaceOfEigh,
     .invoke = CallSyevd,
     .exact = ExactSyevd,
     .bound = BoundOfEigh,
     .finite = 4},
    {.name = "heevd",
     .types = "cz",
     .operands = kSquare,
     .results = kEighResults,
     .attributes = kEighAttributes,
     .workspace = WorkspaceOfEigh,
     .invoke = CallSyevd,
     .exact = ExactSyevd,
     .bound = BoundOfEigh,
     .finite = 4},
    {.name = "geev",
     .types = "sd",
     .operands = kSquare,
     .results = kRealEigResults,
     .attributes = kEigAttributes,
     .workspace = WorkspaceOfEig,
     .invoke = CallRealGeev,
     .exact = ExactGeev,
     .finite = 4},
    {.name = "geev",
     .types = "cz",
     .operands = kSquare,
     .results = kComplexEigResults,
     .attributes = kEigAttributes,
     .workspace = WorkspaceOfEig,
     .invoke = CallComplexGeev,
     .exact = ExactGeev,
     .finite = 4},
    {.name = "gees",
     .types = "sd",
     .operands = kSquare,
     .results = kRealSchurResults,
     .attributes = kSchurAttributes,
     .workspace = WorkspaceOfSchur,
     .invoke = CallRealGees,
     .exact = ExactGees,
     .finite = 5},
    {.name = "gees",
     .types = "cz",
     .operands = kSquare,
     .results = kComplexSchurResults,
     .attributes = kSchurAttributes,
     .workspace = WorkspaceOfSchur,
     .invoke = CallComplexGees,
     .exact = ExactGees,
     .finite = 5},
};

}  // namespace

std::span<const Routine> SpectralRoutines() { return kSpectral; }

}  // namespace assay::custom
