/* The border between Assay and libraries of operations: plain C structures, so that neither side's compiler,
   standard library or settings matter to the other. Authors include assay/op_library.h, which is C++ above
   this.

   A library exports two functions:
     uint32_t assay_abi_version(void);                      returns ASSAY_OP_ABI_VERSION
     void assay_register_ops(const AssayRegistrar* registrar);  tells all that it has
   A structure may grow at its end: `size` is what its maker knew of it. Texts need not end with a zero. What
   a function is given lives until it returns. Nothing may throw through the border. */
#ifndef ASSAY_CUSTOM_C_API_H_
#define ASSAY_CUSTOM_C_API_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ASSAY_OP_ABI_VERSION 1u

typedef struct AssayText {
  const char* data;
  size_t size;
} AssayText;

/* Error classes, by the process' exit codes. */
enum {
  ASSAY_OK = 0,
  ASSAY_INVALID_ARGUMENT = 3, /* the call: its operands' shapes or attributes */
  ASSAY_UNIMPLEMENTED = 4,
  ASSAY_FAILED = 5, /* the values */
  ASSAY_RESOURCE_EXHAUSTED = 6,
  ASSAY_INTERNAL = 7,
};

/* Element types by the codes of XLA's PrimitiveType (docs/spec/shapes.md): 1 pred, 2 s8, … 11 f32, 12 f64. */
typedef int32_t AssayType;

enum { ASSAY_UNKNOWN = -1 };

/* rank ASSAY_UNKNOWN: nothing is known; a size ASSAY_UNKNOWN: that one is not. */
typedef struct AssayShape {
  int64_t rank;
  const int64_t* sizes;
} AssayShape;

/* Elements lie row-major without gaps; data is 64-byte aligned. Types of fewer than 8 bits take a byte
   each, pred is 0 or 1. */
typedef struct AssayArray {
  AssayType type;
  int32_t kind; /* 0 array, 1 token, 2 opaque */
  int64_t rank;
  const int64_t* sizes;  /* those of this run */
  const int64_t* bounds; /* what sizes can be; the same where nothing is dynamic */
  void* data;
  int64_t bytes;
} AssayArray;

enum {
  ASSAY_ATTR_STRING = 0,
  ASSAY_ATTR_INT = 1,
  ASSAY_ATTR_FLOAT = 2,
  ASSAY_ATTR_BOOL = 3,
  ASSAY_ATTR_TYPE = 4,
  ASSAY_ATTR_SHAPE = 5,
  ASSAY_ATTR_TENSOR = 6,
  ASSAY_ATTR_LIST = 7,
};

typedef struct AssayAttr {
  AssayText name; /* empty inside of a list */
  int32_t kind;
  int64_t integer; /* int, bool, type */
  double number;   /* float */
  AssayText text;  /* string */
  AssayShape shape;
  AssayArray tensor;
  const struct AssayAttr* items; /* list */
  size_t count;
} AssayAttr;

/* A named input or output: values number first … first + count - 1 of the call. */
typedef struct AssayArgument {
  AssayText name;
  int64_t first, count;
} AssayArgument;

/* --- Shape functions ------------------------------------------------------------------------------------ */

typedef struct AssayInference {
  size_t size;
  void* self;
  size_t num_inputs;
  const AssayShape* inputs;
  const AssayArray* const* values; /* of inputs that are constants; null: not known */
  size_t num_outputs;
  size_t num_attrs;
  const AssayAttr* attrs;
  size_t num_input_arguments, num_output_arguments;
  const AssayArgument *input_arguments, *output_arguments;
  void (*set_output)(void* self, size_t output, AssayShape shape);
  void (*fail)(void* self, int32_t error, AssayText message);
} AssayInference;

/* --- Kernels -------------------------------------------------------------------------------------------- */

typedef struct AssayConstruction {
  size_t size;
  void* self;
  AssayText op;
  size_t num_attrs;
  const AssayAttr* attrs;
  size_t num_input_arguments, num_output_arguments;
  const AssayArgument *input_arguments, *output_arguments;
  const AssayType *input_types, *output_types; /* by value */
  void (*fail)(void* self, int32_t error, AssayText message);
} AssayConstruction;

typedef struct AssayCompute {
  size_t size;
  void* self;
  size_t num_inputs, num_outputs;
  const AssayArray* inputs;
  /* What the call wants of each output: type, sizes (of dynamic ones the bounds); data is null. */
  const AssayArray* outputs;
  const AssayArgument *input_arguments, *output_arguments; /* as at construction */
  size_t num_input_arguments, num_output_arguments;
  /* Memory for output `output`, or for the run of the kernel alone; null: there is none, or the sizes are
     not the output's, and the run has failed. An output of 0 bytes gets a pointer, too. */
  void* (*allocate_output)(void* self, size_t output, int64_t rank, const int64_t* sizes);
  void* (*allocate_temp)(void* self, AssayType type, int64_t rank, const int64_t* sizes);
  /* Input `input`'s memory as output `output`'s, with its elements, where the program allows that and
     nobody else reads them; null: allocate. */
  void* (*forward_input)(void* self, size_t input, size_t output);
  /* Run-time size of a dynamic dimension of an output. */
  void (*set_size)(void* self, size_t output, int64_t dimension, int64_t size);
  /* work(argument, begin, end) on disjoint ranges that cover [0, total), from several threads; returns
     when all are done. */
  void (*shard)(void* self, int64_t max_parallelism, int64_t total, int64_t cost_per_unit,
                void (*work)(void* argument, int64_t begin, int64_t end), void* argument);
  /* Runs the call's called computation `computation`; results are valid until the kernel returns. Nonzero:
     the run has failed. */
  int32_t (*call)(void* self, size_t computation, size_t num_arguments, const AssayArray* arguments,
                  size_t num_results, AssayArray* results);
  void (*fail)(void* self, int32_t error, AssayText message);
  /* Of a kernel for CUDA: the CUstream that it tells its work to; it waits for nothing. Its context is the
     thread's. Inputs, outputs and temporary memory are the device's, but for the arguments in host_memory.
     Null on the CPU. */
  void* stream;
} AssayCompute;

/* --- Gradients ------------------------------------------------------------------------------------------ */

/* Instructions of the program that a gradient is made of, by number; -1: none. */
typedef struct AssayGradient {
  size_t size;
  void* self;
  size_t num_inputs, num_outputs;
  const int64_t *inputs, *outputs, *gradients; /* gradients: by output */
  size_t num_attrs;
  const AssayAttr* attrs;
  /* Adds an instruction: an HLO opcode, and its attributes as HLO text has them ("dimensions={0}"); -1: it
     is wrong. The shape is inferred; `shape`, HLO text, is for opcodes that need one ("f32[2,3]", else
     empty). */
  int64_t (*add)(void* self, AssayText opcode, AssayText shape, size_t num_operands, const int64_t* operands,
                 AssayText attributes);
  /* Type and sizes of an instruction. */
  AssayType (*type_of)(void* self, int64_t instruction);
  AssayShape (*shape_of)(void* self, int64_t instruction);
  void (*set_gradient)(void* self, size_t input, int64_t instruction);
  void (*fail)(void* self, int32_t error, AssayText message);
} AssayGradient;

/* --- Registration --------------------------------------------------------------------------------------- */

typedef struct AssayOp {
  size_t size;
  AssayText name, doc;
  const AssayText *attrs, *inputs, *outputs;
  size_t num_attrs, num_inputs, num_outputs;
  int32_t has_side_effect, is_stateful;
  AssayText composite;
  int64_t composite_version;
  void* user;                                            /* handed to infer */
  void (*infer)(void* user, const AssayInference* call); /* null: the declared shape is trusted */
} AssayOp;

enum { ASSAY_DEVICE_CPU = 0, ASSAY_DEVICE_CUDA = 1 };

/* The attribute `attr` of kind type has one of these. */
typedef struct AssayTypeConstraint {
  AssayText attr;
  const AssayType* types;
  size_t num_types;
} AssayTypeConstraint;

typedef struct AssayKernel {
  size_t size;
  AssayText op, label;
  int32_t device;
  int32_t priority;
  const AssayTypeConstraint* constraints;
  size_t num_constraints;
  const AssayText* host_memory;
  size_t num_host_memory;
  double absolute_tolerance,
      relative_tolerance; /* against the kernel labelled "reference", where the op has one */
  void* user;
  void* (*create)(void* user, const AssayConstruction* construction);
  void (*compute)(void* kernel, const AssayCompute* call); /* may run on several threads at once */
  void (*destroy)(void* kernel);
} AssayKernel;

typedef struct AssayGradientDef {
  size_t size;
  AssayText op;
  void* user;
  void (*build)(void* user, const AssayGradient* call); /* null: not differentiable, gradients are zero */
} AssayGradientDef;

/* What is handed over is copied, but for `user`, which lives as long as the process. */
typedef struct AssayRegistrar {
  size_t size;
  void* self;
  void (*op)(void* self, const AssayOp* op);
  void (*kernel)(void* self, const AssayKernel* kernel);
  void (*gradient)(void* self, const AssayGradientDef* gradient);
  void (*fail)(void* self, AssayText message); /* the library can't register: nothing of it is */
} AssayRegistrar;

#ifdef __cplusplus
}
#endif

#endif /* ASSAY_CUSTOM_C_API_H_ */
