//===- Numerics.h - The numerics of moeq, as IR -----------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emitters of the arithmetic that the CPU and the GPU lowering share, so that
// both give the same bits.
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_SUPPORT_NUMERICS_H
#define MOEQ_SUPPORT_NUMERICS_H

#include "moeq/Support/Elementwise.h"
#include "moeq/Support/NumericsCasts.h"
#include "moeq/Support/NumericsMath.h"
#include "moeq/Support/NumericsRecipe.h"

#endif // MOEQ_SUPPORT_NUMERICS_H
