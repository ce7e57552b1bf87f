//===- PrepackOp.cpp - prepack ----------------------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpsDetail.h"

using namespace mlir;
using namespace mlir::moeq;
using namespace mlir::moeq::detail;

LogicalResult PrepackOp::verify() {
  ShapeVerifier verifier{*this};
  FailureOr<OperandInfo> input =
      getOperandInfo(*this, getInput(), getInputFormatAttr(), "input");
  FailureOr<OperandInfo> outs =
      getOperandInfo(*this, getOuts(), getOutsFormatAttr(), "outs");
  if (failed(input) || failed(outs) || failed(verifier.oneKind()))
    return failure();
  Type inType = input->scaled ? Type(input->scaled) : input->plain;
  Type outType = outs->scaled ? Type(outs->scaled) : outs->plain;
  if (inType != outType)
    return emitOpError()
           << "expects 'input' and 'outs' of one element type, got " << inType
           << " and " << outType;
  if (input->plain && !isPlainElementType(input->plain))
    return emitOpError()
           << "expects an 'input' of integers or floats of 8 to 64 bits, got "
           << input->plain;
  int64_t rank = input->getRank();
  if (rank != 2 && rank != 3)
    return emitOpError() << "expects 'input' of rank 2 or 3, got rank " << rank;
  if (failed(verifier.rank("outs", outs->shape, rank)))
    return failure();
  for (int64_t dim = 0; dim < rank; ++dim)
    if (failed(verifier.same("extent " + Twine(dim) + " of 'input'",
                             input->shape[dim], "that of 'outs'",
                             outs->shape[dim])))
      return failure();
  for (GateLayout layout : {getFrom(), getTo()})
    if (failed(verifyGateColumns(*this, "input", input->shape[1], layout)))
      return failure();
  if (!input->scaled)
    return success();
  if (rank == 2 && input->scaled.isPacked())
    return emitOpError() << "expects columns of whole bytes, got "
                         << input->scaled;
  int64_t block = input->scaled.getBlockOf(1, rank);
  if ((block != 1 && !ShapedType::isDynamic(block)) ||
      input->scaled.getLayout() != ScaleLayout::RowMajor)
    return emitOpError() << "expects row-major scales whose blocks span one "
                            "column or all, got "
                         << input->scaled;
  return success();
}
