//===- Patterns.h - Lowering of the kernel dialect --------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the pattern files share: how types are lowered, the budget of the
// kernel, and an emitter of the few instructions that all of them use.
//
// Types: tile, vector and exchange = its address (i32); ring = the addresses of
// its stages and of its barriers; cursor = slot (i32) and phase (i1); tensor
// map = its address; fragment = for each 64 rows a struct of the registers of a
// thread; operand = its 32-bit registers; striped = the registers of a thread;
// schedule = see ScheduleState.
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_LIB_CONVERSION_MOEQGPUTONVGPU_PATTERNS_H
#define MOEQ_LIB_CONVERSION_MOEQGPUTONVGPU_PATTERNS_H

#include "moeq/Dialect/MoeqGPU/IR/FragmentLayout.h"
#include "moeq/Dialect/MoeqGPU/IR/MoeqGPU.h"
#include "moeq/Target/Ptx.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::moeq_gpu {

/// The global that stands for the dynamic shared memory of a kernel.
constexpr StringLiteral kSharedMemorySymbol = "moeq_shared_memory";

/// The address spaces of NVPTX.
constexpr unsigned kGlobalSpace = 1, kSharedSpace = 3, kClusterSpace = 7;

/// Emits instructions at the insertion point of a builder. Integers are i32
/// unless said; an immediate takes the type of the value that it meets.
class Emitter {
public:
  Emitter(OpBuilder &builder, Location loc) : b(builder), loc(loc) {}

  Value i1(bool value) { return constant(b.getI1Type(), value); }
  Value i32(int64_t value) { return constant(b.getI32Type(), value); }
  Value i64(int64_t value) { return constant(b.getI64Type(), value); }
  Value constant(Type type, int64_t value);
  Value zero(Type type) {
    return arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  }

  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubIOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return arith::MulIOp::create(b, loc, x, y); }
  Value div(Value x, Value y) { return arith::DivUIOp::create(b, loc, x, y); }
  Value rem(Value x, Value y) { return arith::RemUIOp::create(b, loc, x, y); }
  Value min(Value x, Value y) { return arith::MinUIOp::create(b, loc, x, y); }
  Value max(Value x, Value y) { return arith::MaxUIOp::create(b, loc, x, y); }
  Value maxSigned(Value x, Value y) {
    return arith::MaxSIOp::create(b, loc, x, y);
  }
  Value bitAnd(Value x, Value y) { return arith::AndIOp::create(b, loc, x, y); }
  Value bitOr(Value x, Value y) { return arith::OrIOp::create(b, loc, x, y); }
  Value bitXor(Value x, Value y) { return arith::XOrIOp::create(b, loc, x, y); }
  Value add(Value x, int64_t y) { return y ? add(x, like(x, y)) : x; }
  Value sub(Value x, int64_t y) { return y ? sub(x, like(x, y)) : x; }
  Value mul(Value x, int64_t y) { return y == 1 ? x : mul(x, like(x, y)); }
  Value div(Value x, int64_t y) { return y == 1 ? x : div(x, like(x, y)); }
  Value rem(Value x, int64_t y) { return rem(x, like(x, y)); }
  Value bitXor(Value x, int64_t y) { return bitXor(x, like(x, y)); }
  Value ceilDiv(Value x, Value y) { return div(sub(add(x, y), 1), y); }
  Value ceilDiv(Value x, int64_t y) { return div(add(x, y - 1), y); }
  Value equal(Value x, int64_t y) {
    return compare(arith::CmpIPredicate::eq, x, like(x, y));
  }
  Value below(Value x, Value y) {
    return compare(arith::CmpIPredicate::ult, x, y);
  }
  Value below(Value x, int64_t y) { return below(x, like(x, y)); }
  Value compare(arith::CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(b, loc, predicate, x, y);
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, loc, condition, x, y);
  }
  Value toI64(Value x) {
    return arith::ExtUIOp::create(b, loc, b.getI64Type(), x);
  }

  /// The thread in the CTA, in its warpgroup, and in its warp.
  Value thread();
  Value warpgroupThread() { return rem(thread(), kWarpgroupThreads); }
  Value lane() { return rem(thread(), kWarpThreads); }

  /// A value of another lane of the warp; `kind` as in PTX.
  Value shuffle(NVVM::ShflKind kind, Value value, Value lane);
  Value broadcast(Value value, Value lane) {
    return shuffle(NVVM::ShflKind::idx, value, lane);
  }
  /// A bit for each lane.
  Value ballot(Value predicate);

  /// The address `index` elements of `type` past `base`.
  Value at(Value base, Type type, Value index);
  Value at(Value base, Type type, int64_t index);
  /// A load from global memory. It is not invariant: the previous kernel may
  /// still write there when this one starts, and then waits for it.
  Value loadGlobal(Type type, Value address, int64_t alignment);

  /// The pointer to an address in shared memory. Addresses are i32 there, and
  /// become pointers only where an instruction takes them.
  Value shared(Value address) {
    return LLVM::IntToPtrOp::create(
        b, loc, LLVM::LLVMPointerType::get(b.getContext(), kSharedSpace),
        address);
  }

  Value isNonNegative(Value x) {
    return compare(arith::CmpIPredicate::sge, x, constant(x.getType(), 0));
  }
  /// The number at `place` of `indices` in global memory: 0 where it is
  /// negative, and stands for nothing that exists.
  struct Gathered {
    Value index, exists;
  };
  Gathered gather(Value indices, Value place);

  /// Runs `body` where `condition` holds.
  void when(Value condition, function_ref<void()> body);

  /// The consumer that the thread is of.
  Value consumer(const KernelBudget &budget) {
    return sub(div(thread(), kWarpgroupThreads), budget.producers);
  }
  /// A barrier of the threads of a consumer; its number is one more than that
  /// of the consumer, so that 0 is that of the CTA.
  void consumerBarrier(const KernelBudget &budget);

  OpBuilder &b;
  Location loc;

private:
  Value like(Value value, int64_t x) { return constant(value.getType(), x); }
};

/// The bytes of a piece of a tile, which the swizzle moves as a whole.
constexpr int64_t kChunkBytes = 16;
constexpr int64_t kChunksPerRow = TileType::kPanelBytes / kChunkBytes;

/// The address of a piece of a tile: (row, chunk) of a panel that starts at
/// `panel`.
Value emitChunkAddress(Emitter &e, Value panel, Value row, Value chunk);

/// A pointer as an address in its memory, and the address `offset` bytes into
/// the dynamic shared memory.
Value emitAddress(Emitter &e, Value pointer);
Value emitSharedMemory(Emitter &e, int64_t offset);

/// A pointer to what lies at `address` in the shared memory of CTA `rank` of
/// the cluster.
Value emitInCluster(Emitter &e, Value address, Value rank);

/// What the schedule of a role keeps in registers, one value a lane where it
/// says so. Groups of a lane are consecutive, so prefixes ascend over the
/// lanes.
struct ScheduleState {
  Value prefix;   ///< A lane: row tiles of the groups up to its last one.
  Value rowTiles; ///< The row tiles of all groups.
  Value size;     ///< The tiles.
  Value columnTiles;
  Value groups;
  Value table; ///< The offsets, the counts or the plan. Where there is none,
               ///< the one group has `rows` rows, as masked ones in memory.
  Value rows;

  SmallVector<Value> pack() const {
    return {prefix, rowTiles, size, columnTiles, groups, table, rows};
  }
  static ScheduleState unpack(ValueRange values) {
    return {values[0], values[1], values[2], values[3],
            values[4], values[5], values[6]};
  }
  static void getTypes(MLIRContext *context, SmallVectorImpl<Type> &types);
};

/// The rows of a fragment that one struct holds: those of a wgmma instruction.
constexpr int64_t kPartRows = 64;

/// The wgmma descriptor of a tile. From a panel to the next are `panelUnits` of
/// 16 bytes, where K is outer.
Value emitMatrixDescriptor(Emitter &e, Value tile, int64_t panelUnits = 1);

/// The register types of a fragment: 32-bit elements one by one, narrower ones
/// in vectors of two columns (one by one in a column vector).
SmallVector<Type> getRegisterTypes(FragmentType type);

/// A fragment lowered: a struct of registers for each 64 rows.
void getFragmentTypes(FragmentType type, SmallVectorImpl<Type> &types);
SmallVector<Value> unpackFragment(Emitter &e, ValueRange parts);
SmallVector<Value> packFragment(Emitter &e, FragmentType type,
                                ArrayRef<Value> values);
/// The same of one value an element, which registers hold in pairs.
SmallVector<Value> packElements(Emitter &e, FragmentType type,
                                ArrayRef<Value> elements);
/// The row and the column that a thread's registers count from.
std::pair<Value, Value> emitThreadOffset(Emitter &e,
                                         const FragmentLayout &layout);

/// The target of the module around `op`, if it names one that is known.
std::optional<moeq::PtxTarget> getTarget(Operation *op);

/// Of four 8-bit floats, the two that a byte permutation by `selector` leaves
/// in the upper halves of a word, as f16, which holds their numbers. Byte 4 is
/// zero.
Value emitWiden(Emitter &e, Type type, Value bytes, int64_t selector);

/// The base class of the patterns.
template <typename OpTy>
struct KernelPattern : OpConversionPattern<OpTy> {
  KernelPattern(const TypeConverter &converter, MLIRContext *context,
                const KernelBudget &budget)
      : OpConversionPattern<OpTy>(converter, context), budget(budget) {}
  const KernelBudget &budget;
};

void populateSchedulePatterns(const TypeConverter &converter,
                              RewritePatternSet &patterns,
                              const KernelBudget &budget);
void populateRingPatterns(const TypeConverter &converter,
                          RewritePatternSet &patterns,
                          const KernelBudget &budget);
void populateRolesPatterns(const TypeConverter &converter,
                           RewritePatternSet &patterns,
                           const KernelBudget &budget);
void populateCopyPatterns(const TypeConverter &converter,
                          RewritePatternSet &patterns,
                          const KernelBudget &budget);
void populateMmaSyncPatterns(const TypeConverter &converter,
                             RewritePatternSet &patterns,
                             const KernelBudget &budget);
void populateSharedPatterns(const TypeConverter &converter,
                            RewritePatternSet &patterns,
                            const KernelBudget &budget);
void populateGatherPatterns(const TypeConverter &converter,
                            RewritePatternSet &patterns,
                            const KernelBudget &budget);
void populateFragmentPatterns(const TypeConverter &converter,
                              RewritePatternSet &patterns,
                              const KernelBudget &budget);
void populateLoadPatterns(const TypeConverter &converter,
                          RewritePatternSet &patterns,
                          const KernelBudget &budget);
void populateDequantPatterns(const TypeConverter &converter,
                             RewritePatternSet &patterns,
                             const KernelBudget &budget);
void populateRegisterMmaPatterns(const TypeConverter &converter,
                                 RewritePatternSet &patterns,
                                 const KernelBudget &budget);
void populateExchangePatterns(const TypeConverter &converter,
                              RewritePatternSet &patterns,
                              const KernelBudget &budget);
void populateStorePatterns(const TypeConverter &converter,
                           RewritePatternSet &patterns,
                           const KernelBudget &budget);

} // namespace mlir::moeq_gpu

#endif // MOEQ_LIB_CONVERSION_MOEQGPUTONVGPU_PATTERNS_H
