/*===- moeq-c/Moeq.h - The C interface of moeq --------------------*- C -*-===*\
|*                                                                            *|
|* Part of moeq, under the Apache License v2.0 with LLVM Exceptions.          *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* One shared library, libmoeq-c, for languages other than C++. Handles are   *|
|* opaque; a function that fails returns NULL or false and leaves the reasons *|
|* in the context, where moeqContextGetDiagnostics finds them. A context and  *|
|* what belongs to it are used by one thread at a time.                       *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef MOEQ_C_MOEQ_H
#define MOEQ_C_MOEQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MOEQ_EXPORT __attribute__((visibility("default")))

typedef struct MoeqContext MoeqContext;
typedef struct MoeqModule MoeqModule;

/*===- Contexts and diagnostics -------------------------------------------===*/

typedef enum MoeqSeverity {
  MoeqSeverityNote = 0,
  MoeqSeverityWarning = 1,
  MoeqSeverityError = 2,
  MoeqSeverityRemark = 3
} MoeqSeverity;

/* A diagnostic; `file` is empty and line and column are 0 where the location is
 * unknown. A note follows the diagnostic that it belongs to. */
typedef struct MoeqDiagnostic {
  MoeqSeverity severity;
  uint32_t line;
  uint32_t column;
  const char *file;
  const char *message;
} MoeqDiagnostic;

/* A context that knows every dialect and pass. */
MOEQ_EXPORT MoeqContext *moeqContextCreate(void);
/* Gives the context up. It is destroyed with the last of its modules. */
MOEQ_EXPORT void moeqContextDestroy(MoeqContext *context);
/* The diagnostics since the last moeqContextClearDiagnostics, and their number.
 * The array lives until the next call that takes the context or one of its
 * modules. */
MOEQ_EXPORT const MoeqDiagnostic *
moeqContextGetDiagnostics(MoeqContext *context, size_t *count);
MOEQ_EXPORT void moeqContextClearDiagnostics(MoeqContext *context);
/* Frees a string that a function of this interface returned. */
MOEQ_EXPORT void moeqStringDestroy(char *string);

/*===- Modules ------------------------------------------------------------===*/

/* Parses and verifies `length` bytes of MLIR, text or bytecode; `name` is the
 * file in the locations. */
MOEQ_EXPORT MoeqModule *moeqModuleParse(MoeqContext *context, const char *text,
                                        size_t length, const char *name);
MOEQ_EXPORT void moeqModuleDestroy(MoeqModule *module);
MOEQ_EXPORT MoeqModule *moeqModuleClone(MoeqModule *module);
/* The module as text, in the generic form where `generic`. */
MOEQ_EXPORT char *moeqModulePrint(MoeqModule *module, bool generic);
MOEQ_EXPORT bool moeqModuleVerify(MoeqModule *module);
/* Runs a pass pipeline such as "moeq-decompose,canonicalize" on the module. */
MOEQ_EXPORT bool moeqModuleRunPipeline(MoeqModule *module,
                                       const char *pipeline);

/*===- Running ------------------------------------------------------------===*/

/* An argument or result of a function. A scaled tensor is consecutive ones
 * NAME, NAME.scale and, with zero points, NAME.zero; NAME is its
 * attribute `moeq.name`, else arg0, arg1, ... or result0, .... `element` is
 * MLIR's name of the element type ("bf16"; "i8" for packed 4-bit values). A
 * dynamic extent is -1. */
typedef struct MoeqTensorType {
  const char *name;
  const char *element;
  const int64_t *shape;
  int64_t rank;
} MoeqTensorType;

typedef struct MoeqSignature {
  const MoeqTensorType *arguments;
  const MoeqTensorType *results;
  size_t numArguments;
  size_t numResults;
} MoeqSignature;

/* The arguments and results of a function; lives until the next call for the
 * module. */
MOEQ_EXPORT const MoeqSignature *moeqModuleGetSignature(MoeqModule *module,
                                                        const char *entry);

/* A dense row-major array. */
typedef struct MoeqArray {
  const char *element;
  void *data;
  const int64_t *shape;
  int64_t rank;
} MoeqArray;

typedef struct MoeqArrays MoeqArrays;

/* Runs a function on the CPU. `level` is that to which the program is brought
 * before it is lowered to loops, with the same result: "layer" (as it is),
 * "ops" or "tiles". The module is not changed. */
MOEQ_EXPORT MoeqArrays *moeqModuleRun(MoeqModule *module, const char *entry,
                                      const char *level,
                                      const MoeqArray *inputs,
                                      size_t numInputs);
/* The arrays, which live until they are destroyed. */
MOEQ_EXPORT const MoeqArray *moeqArraysGet(MoeqArrays *arrays, size_t *count);
MOEQ_EXPORT void moeqArraysDestroy(MoeqArrays *arrays);

/*===- Compiling ----------------------------------------------------------===*/

/* A file of a compiled module: the PTX of a kernel, its cubin where ptxas is
 * found, or manifest.json. */
typedef struct MoeqFile {
  const char *name;
  const char *data;
  size_t size;
} MoeqFile;

typedef struct MoeqFiles MoeqFiles;

/* Compiles the functions of a module for a chip, "" for that of the module. A
 * matmul gets up to `variants` kernels, each for a range of rows. The module is
 * not changed. */
MOEQ_EXPORT MoeqFiles *moeqModuleCompile(MoeqModule *module, const char *chip,
                                         int64_t variants);
/* The files, which live until they are destroyed. */
MOEQ_EXPORT const MoeqFile *moeqFilesGet(MoeqFiles *files, size_t *count);
MOEQ_EXPORT void moeqFilesDestroy(MoeqFiles *files);

#ifdef __cplusplus
}
#endif

#endif /* MOEQ_C_MOEQ_H */
