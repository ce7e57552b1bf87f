//===- RegisterMmaPatterns.cpp - Matmuls that read registers ----*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream has no wgmma with A in registers, so it is assembly here: one block
// for all columns of an operand, with its fence and its commit. ptxas keeps the
// registers of a matmul in flight only if they are those of the wait too; else
// it would serialize (PTX ISA, "wgmma.mma_async").
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::moeq_gpu;

/// The step in a descriptor of the columns of an instruction, 32 bytes.
static constexpr int64_t kStepUnits = 2;
/// 32-bit registers of A of an instruction.
static constexpr int64_t kStepRegisters = 4;

/// "=f" or "0", "1", ... joined by commas.
static std::string repeat(int64_t count,
                          function_ref<std::string(int64_t)> of) {
  std::string text;
  for (int64_t i = 0; i < count; ++i)
    text += (i ? "," : "") + of(i);
  return text;
}

/// Volatile assembly.
static Value emitAssembly(Emitter &e, Type result, ValueRange operands,
                          StringRef text, StringRef constraints) {
  auto assembly = LLVM::InlineAsmOp::create(
      e.b, e.loc, result ? TypeRange(result) : TypeRange(), operands, text,
      constraints, /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::tailcallkind::TailCallKind::None,
      LLVM::AsmDialectAttr::get(e.b.getContext(), LLVM::AsmDialect::AD_ATT),
      /*operand_attrs=*/ArrayAttr());
  return result ? assembly.getResult(0) : Value();
}

namespace {
struct MmaRsLowering : KernelPattern<MmaRsOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(MmaRsOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    OperandType a = op.getA().getType();
    SmallVector<Type> types;
    getFragmentTypes(op.getResult().getType(), types);
    // Those of 64 rows, then by columns.
    ValueRange registers = adaptor.getA();
    size_t ofRows = registers.size() / types.size(),
           taken = ofRows / op.getParts(), skipped = op.getPart() * taken;
    Value b = e.add(emitMatrixDescriptor(e, adaptor.getB().front()),
                    skipped / kStepRegisters * kStepUnits);
    SmallVector<Value> parts;
    for (auto [i, type] : llvm::enumerate(types)) {
      Value accumulator =
          op.getAccumulator() ? adaptor.getAccumulator()[i] : Value();
      bool isLast = i + 1 == types.size();
      parts.push_back(emitPart(e, a, type, accumulator,
                               registers.slice(i * ofRows + skipped, taken), b,
                               /*fences=*/i == 0, /*commits=*/isLast));
    }
    rewriter.replaceOpWithMultiple(op, {parts});
    return success();
  }

private:
  /// 64 rows: $0 and on are the sums, then tied to them their old values, the
  /// registers of A, and the descriptor of B.
  static Value emitPart(Emitter &e, OperandType a, Type type, Value accumulator,
                        ValueRange registers, Value b, bool fences,
                        bool commits) {
    int64_t sums = cast<LLVM::LLVMStructType>(type).getBody().size(),
            first = accumulator ? 2 * sums : sums,
            descriptor = first + registers.size();
    std::string text = "{ .reg .pred accumulates; .reg .b64 b; ";
    text +=
        llvm::formatv("setp.ne.b32 accumulates, {0}, 0; ", accumulator ? 1 : 0);
    if (fences)
      text += "wgmma.fence.sync.aligned; ";
    StringRef element = a.getElementType().isBF16() ? "bf16" : "f16";
    auto name = [](int64_t i) { return llvm::formatv("${0}", i).str(); };
    int64_t steps = registers.size() / kStepRegisters;
    for (int64_t step = 0; step < steps; ++step) {
      text += llvm::formatv("add.s64 b, ${0}, {1}; ", descriptor,
                            step * kStepUnits);
      if (step == 1 && !accumulator)
        text += "setp.eq.b32 accumulates, 0, 0; ";
      text += llvm::formatv(
          "wgmma.mma_async.sync.aligned.m64n{0}k16.f32.{1}.{1} {{{2}}, {{{3}}, "
          "b, accumulates, 1, 1, 0; ",
          2 * sums, element, repeat(sums, name),
          repeat(kStepRegisters, [&](int64_t i) {
            return name(first + step * kStepRegisters + i);
          }));
    }
    if (commits)
      text += "wgmma.commit_group.sync.aligned; ";
    text += "}";
    std::string constraints = repeat(sums, [](int64_t) { return "=f"; });
    SmallVector<Value> operands;
    if (accumulator) {
      operands = unpackFragment(e, accumulator);
      constraints +=
          "," + repeat(sums, [](int64_t i) { return std::to_string(i); });
    }
    llvm::append_range(operands, registers);
    operands.push_back(b);
    constraints +=
        "," + repeat(registers.size(), [](int64_t) { return "r"; }) + ",l";
    return emitAssembly(e, type, operands, text, constraints);
  }
};

struct MmaWaitLowering : KernelPattern<MmaWaitOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(MmaWaitOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (op.getRegisters().empty()) {
      NVVM::WgmmaWaitGroupSyncOp::create(rewriter, op.getLoc(),
                                         op.getPending());
      rewriter.replaceOpWithMultiple(op, adaptor.getFragments());
      return success();
    }
    Emitter e(rewriter, op.getLoc());
    SmallVector<Type> types;
    SmallVector<Value> sums, registers;
    for (ValueRange fragment : adaptor.getFragments()) {
      llvm::append_range(types, fragment.getTypes());
      llvm::append_range(sums, unpackFragment(e, fragment));
    }
    for (ValueRange operand : adaptor.getRegisters())
      llvm::append_range(registers, operand);
    // One struct of all sums.
    SmallVector<Type> elements =
        llvm::map_to_vector(sums, [](Value sum) { return sum.getType(); });
    SmallVector<Value> operands(sums);
    llvm::append_range(operands, registers);
    std::string constraints;
    if (!sums.empty())
      constraints =
          repeat(sums.size(), [](int64_t) { return "=f"; }) + "," +
          repeat(sums.size(), [](int64_t i) { return std::to_string(i); }) +
          ",";
    constraints += repeat(registers.size(), [](int64_t) { return "r"; });
    Type result =
        sums.empty() ? Type()
                     : LLVM::LLVMStructType::getLiteral(getContext(), elements);
    Value waited = emitAssembly(
        e, result, operands,
        llvm::formatv("wgmma.wait_group.sync.aligned {0};", op.getPending())
            .str(),
        constraints);
    SmallVector<SmallVector<Value>> results;
    size_t next = 0;
    for (ValueRange fragment : adaptor.getFragments()) {
      SmallVector<Value> &parts = results.emplace_back();
      for (Type type : fragment.getTypes()) {
        Value part = LLVM::PoisonOp::create(rewriter, op.getLoc(), type);
        for (size_t i = 0,
                    n = cast<LLVM::LLVMStructType>(type).getBody().size();
             i < n; ++i)
          part = LLVM::InsertValueOp::create(
              rewriter, op.getLoc(), part,
              LLVM::ExtractValueOp::create(rewriter, op.getLoc(), waited,
                                           next++),
              i);
        parts.push_back(part);
      }
    }
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }
};
} // namespace

void mlir::moeq_gpu::populateRegisterMmaPatterns(const TypeConverter &converter,
                                                 RewritePatternSet &patterns,
                                                 const KernelBudget &budget) {
  patterns.add<MmaRsLowering, MmaWaitLowering>(converter, patterns.getContext(),
                                               budget);
}
