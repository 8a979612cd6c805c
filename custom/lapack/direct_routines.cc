// getrf, geqrf, geqp3, orgqr, ormqr, gehrd, sytrd, gtsv and their complex forms; getrf and gtsv are Assay's
// own. Arguments are those of LAPACK's Fortran routines: every argument by its address, the length of each
// letter behind all of them.
#include <algorithm>

#include "base/counted.h"
#include "custom/lapack/exact_lu.h"
#include "custom/lapack/exact_routines.h"
#include "custom/lapack/routines.h"
#include "fmt/format.h"

namespace assay::custom {
namespace {

absl::Status InvalidSizes(const InferContext& context, std::string_view message) {
  return InvalidProgram({}, fmt::format("{}: {}", CallName(context), message));
}

absl::Status SetSmaller(const InferContext&, LapackCall& call) {
  call.size('k') = std::min(call.size('m'), call.size('n'));
  return absl::OkStatus();
}

// ---- getrf(a) = (L and U, pivots, info): P a = L U, by rows that are exchanged
// ----------------------------------------

constexpr ArrayRule kLuResults[] = {
    {ArrayType::kElement, "mn", 0}, {ArrayType::kS32, "k"}, {ArrayType::kS32, ""}};

// ---- geqrf(a) = (R and reflectors, tau); geqp3(a, jpvt) = (the same, permutation, tau)
// --------------------------------

constexpr ArrayRule kQrResults[] = {{ArrayType::kElement, "mn", 0}, {ArrayType::kElement, "k"}};

Workspace WorkspaceOfColumns(const LapackCall& call) {
  return {.elements = std::max<int64_t>(1, call.size('n'))};
}

int CallGeqrf(const LapackArguments& args) {
  using Fn = void (*)(Int m, Int n, void* a, Int lda, void* tau, void* work, Int lwork, int* info);
  const int m = args.size('m'), n = args.size('n'), lda = args.lead('m');
  int info = 0;
  reinterpret_cast<Fn>(args.routine)(&m, &n, args.out[0], &lda, args.out[1], args.work, &args.num_work,
                                     &info);
  return info;
}

constexpr ArrayRule kPivotedQrOperands[] = {{ArrayType::kElement, "mn"}, {ArrayType::kS32, "n"}};
constexpr ArrayRule kPivotedQrResults[] = {
    {ArrayType::kElement, "mn", 0}, {ArrayType::kS32, "n", 1}, {ArrayType::kElement, "k"}};

Workspace WorkspaceOfGeqp3(const LapackCall& call) {
  const int64_t n = call.size('n');
  return {.elements = 3 * n + 1, .reals = call.is_complex() ? 2 * n : 0};
}

int CallGeqp3(const LapackArguments& args) {
  using Real =
      void (*)(Int m, Int n, void* a, Int lda, int* jpvt, void* tau, void* work, Int lwork, int* info);
  using Complex = void (*)(Int m, Int n, void* a, Int lda, int* jpvt, void* tau, void* work, Int lwork,
                           void* rwork, int* info);
  const int m = args.size('m'), n = args.size('n'), lda = args.lead('m');
  int* const jpvt = static_cast<int*>(args.out[1]);
  int info = 0;
  if (args.call.is_complex()) {
    reinterpret_cast<Complex>(args.routine)(&m, &n, args.out[0], &lda, jpvt, args.out[2], args.work,
                                            &args.num_work, args.reals, &info);
  } else {
    reinterpret_cast<Real>(args.routine)(&m, &n, args.out[0], &lda, jpvt, args.out[2], args.work,
                                         &args.num_work, &info);
  }
  return info;
}

// ---- orgqr(a, tau) = Q, the product of k reflectors; ormqr(a, tau, c) = op(Q) c or c op(Q)
// ----------------------------

constexpr ArrayRule kReflectors[] = {{ArrayType::kElement, "mn"}, {ArrayType::kElement, "k"}};
constexpr ArrayRule kProductOfReflectors[] = {{ArrayType::kElement, "mn", 0}};

absl::Status CheckOrgqr(const InferContext& context, LapackCall& call) {
  const int64_t m = call.size('m'), n = call.size('n'), k = call.size('k');
  if (k <= n && n <= m) return absl::OkStatus();
  return InvalidSizes(context, fmt::format("{} for {} of {}, wanted no more reflectors than columns "
                                           "and no more columns than rows",
                                           Counted(k, "reflector"), Counted(n, "column"), Counted(m, "row")));
}

int CallOrgqr(const LapackArguments& args) {
  using Fn = void (*)(Int m, Int n, Int k, void* a, Int lda, void* tau, void* work, Int lwork, int* info);
  const int m = args.size('m'), n = args.size('n'), k = args.size('k'), lda = args.lead('m');
  int info = 0;
  reinterpret_cast<Fn>(args.routine)(&m, &n, &k, args.out[0], &lda, args.in[1], args.work, &args.num_work,
                                     &info);
  return info;
}

constexpr ArrayRule kOrmqrOperands[] = {
    {ArrayType::kElement, "qp"}, {ArrayType::kElement, "k"}, {ArrayType::kElement, "mn"}};
constexpr ArrayRule kOrmqrResults[] = {{ArrayType::kElement, "mn", 2}};
constexpr AttributeRule kOrmqrAttributes[] = {{"left", AttributeRule::Kind::kBool},
                                              {"transpose", AttributeRule::Kind::kBool}};

absl::Status CheckOrmqr(const InferContext& context, LapackCall& call) {
  const int64_t q = call.size('q'), p = call.size('p'), k = call.size('k');
  const bool left = call.attributes[0] != 0;
  const int64_t wanted = call.size(left ? 'm' : 'n');
  if (q == wanted && k <= p && k <= q) return absl::OkStatus();
  return InvalidSizes(
      context, fmt::format("{} in a matrix of {} x {}, wanted {}, the {} of c, and no more "
                           "reflectors than rows or columns",
                           Counted(k, "reflector"), q, p, Counted(wanted, "row"), left ? "rows" : "columns"));
}

Workspace WorkspaceOfOrmqr(const LapackCall& call) {
  return {.elements = std::max<int64_t>(1, call.size(call.attributes[0] != 0 ? 'n' : 'm'))};
}

int CallOrmqr(const LapackArguments& args) {
  using Fn = void (*)(Letter side, Letter trans, Int m, Int n, Int k, void* a, Int lda, void* tau, void* c,
                      Int ldc, void* work, Int lwork, int* info, size_t, size_t);
  const char side = args.call.attributes[0] != 0 ? 'L' : 'R';
  const char trans = args.call.attributes[1] == 0 ? 'N' : args.call.is_complex() ? 'C' : 'T';
  const int m = args.size('m'), n = args.size('n'), k = args.size('k');
  const int lda = args.lead('q'), ldc = args.lead('m');
  int info = 0;
  reinterpret_cast<Fn>(args.routine)(&side, &trans, &m, &n, &k, args.in[0], &lda, args.in[1], args.out[0],
                                     &ldc, args.work, &args.num_work, &info, 1, 1);
  return info;
}

// ---- gehrd(a) = (H and reflectors, tau, info); sytrd(a) = (T and reflectors, diagonal,
// off-diagonal, tau, info) -------

constexpr ArrayRule kGehrdResults[] = {
    {ArrayType::kElement, "nn", 0}, {ArrayType::kElement, "o"}, {ArrayType::kS32, ""}};
constexpr AttributeRule kGehrdAttributes[] = {{"low", AttributeRule::Kind::kS32},
                                              {"high", AttributeRule::Kind::kS32}};

absl::Status SetOffDiagonal(const InferContext&, LapackCall& call) {
  call.size('o') = std::max<int64_t>(call.size('n') - 1, 0);
  return absl::OkStatus();
}

absl::Status CheckGehrd(const InferContext& context, LapackCall& call) {
  const int64_t n = call.size('n'), low = call.attributes[0], high = call.attributes[1];
  ASSAY_RETURN_IF_ERROR(SetOffDiagonal(context, call));
  if (low >= 1 && low <= std::max<int64_t>(1, n) && high >= std::min(low, n) && high <= n)
    return absl::OkStatus();
  return InvalidSizes(context,
                      fmt::format("low = {}, high = {}, wanted 1 <= low <= high <= {}", low, high, n));
}

int CallGehrd(const LapackArguments& args) {
  using Fn = void (*)(Int n, Int ilo, Int ihi, void* a, Int lda, void* tau, void* work, Int lwork, int* info);
  const int n = args.size('n'), lda = args.lead('n');
  const int ilo = static_cast<int>(args.call.attributes[0]), ihi = static_cast<int>(args.call.attributes[1]);
  int info = 0;
  reinterpret_cast<Fn>(args.routine)(&n, &ilo, &ihi, args.out[0], &lda, args.out[1], args.work,
                                     &args.num_work, &info);
  return info;
}

constexpr ArrayRule kSytrdResults[] = {{ArrayType::kElement, "nn", 0},
                                       {ArrayType::kReal, "n"},
                                       {ArrayType::kReal, "o"},
                                       {ArrayType::kElement, "o"},
                                       {ArrayType::kS32, ""}};
constexpr AttributeRule kTriangle[] = {{"uplo", AttributeRule::Kind::kLetter, "LU"}};

Workspace WorkspaceOfOne(const LapackCall&) { return {.elements = 1}; }

int CallSytrd(const LapackArguments& args) {
  using Fn = void (*)(Letter uplo, Int n, void* a, Int lda, void* d, void* e, void* tau, void* work,
                      Int lwork, int* info, size_t);
  const char uplo = args.letter(0);
  const int n = args.size('n'), lda = args.lead('n');
  int info = 0;
  reinterpret_cast<Fn>(args.routine)(&uplo, &n, args.out[0], &lda, args.out[1], args.out[2], args.out[3],
                                     args.work, &args.num_work, &info, 1);
  return info;
}

// ---- gtsv(dl, d, du, b) = (the three diagonals of the factors, x, info);
// dl[0] and du[n-1] belong to no row -----------

constexpr ArrayRule kGtsvOperands[] = {{ArrayType::kElement, "n"},
                                       {ArrayType::kElement, "n"},
                                       {ArrayType::kElement, "n"},
                                       {ArrayType::kElement, "nr"}};
constexpr ArrayRule kGtsvResults[] = {{ArrayType::kElement, "n", 0},
                                      {ArrayType::kElement, "n", 1},
                                      {ArrayType::kElement, "n", 2},
                                      {ArrayType::kElement, "nr", 3},
                                      {ArrayType::kS32, ""}};

constexpr Routine kDirect[] = {
    {.name = "getrf",
     .types = "sdcz",
     .operands = kOneMatrix,
     .results = kLuResults,
     .check = SetSmaller,
     .own = MakeExactGetrf},
    {.name = "geqrf",
     .types = "sdcz",
     .operands = kOneMatrix,
     .results = kQrResults,
     .check = SetSmaller,
     .workspace = WorkspaceOfColumns,
     .invoke = CallGeqrf,
     .exact = ExactGeqrf,
     .has_info = false},
    {.name = "geqp3",
     .types = "sdcz",
     .operands = kPivotedQrOperands,
     .results = kPivotedQrResults,
     .check = SetSmaller,
     .workspace = WorkspaceOfGeqp3,
     .invoke = CallGeqp3,
     .exact = ExactGeqp3,
     .has_info = false},
    {.name = "orgqr",
     .types = "sd",
     .operands = kReflectors,
     .results = kProductOfReflectors,
     .check = CheckOrgqr,
     .workspace = WorkspaceOfColumns,
     .invoke = CallOrgqr,
     .exact = ExactOrgqr,
     .has_info = false},
    {.name = "ungqr",
     .types = "cz",
     .operands = kReflectors,
     .results = kProductOfReflectors,
     .check = CheckOrgqr,
     .workspace = WorkspaceOfColumns,
     .invoke = CallOrgqr,
     .exact = ExactOrgqr,
     .has_info = false},
    {.name = "ormqr",
     .types = "sd",
     .operands = kOrmqrOperands,
     .results = kOrmqrResults,
     .attributes = kOrmqrAttributes,
     .check = CheckOrmqr,
     .workspace = WorkspaceOfOrmqr,
     .invoke = CallOrmqr,
     .exact = ExactOrmqr,
     .has_info = false},
    {.name = "unmqr",
     .types = "cz",
     .operands = kOrmqrOperands,
     .results = kOrmqrResults,
     .attributes = kOrmqrAttributes,
     .check = CheckOrmqr,
     .workspace = WorkspaceOfOrmqr,
     .invoke = CallOrmqr,
     .exact = ExactOrmqr,
     .has_info = false},
    {.name = "gehrd",
     .types = "sdcz",
     .operands = kSquare,
     .results = kGehrdResults,
     .attributes = kGehrdAttributes,
     .check = CheckGehrd,
     .workspace = WorkspaceOfColumns,
     .invoke = CallGehrd,
     .exact = ExactGehrd},
    {.name = "sytrd",
     .types = "sd",
     .operands = kSquare,
     .results = kSytrdResults,
     .attributes = kTriangle,
     .check = SetOffDiagonal,
     .workspace = WorkspaceOfOne,
     .invoke = CallSytrd,
     .exact = ExactSytrd},
    {.name = "hetrd",
     .types = "cz",
     .operands = kSquare,
     .results = kSytrdResults,
     .attributes = kTriangle,
     .check = SetOffDiagonal,
     .workspace = WorkspaceOfOne,
     .invoke = CallSytrd,
     .exact = ExactSytrd},
    {.name = "gtsv",
     .types = "sdcz",
     .operands = kGtsvOperands,
     .results = kGtsvResults,
     .own = MakeExactGtsv},
};

}  // namespace

std::span<const Routine> DirectRoutines() { return kDirect; }

}  // namespace assay::custom
