//===- FuzzTest.cpp - Malformed IR never crashes ----------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mutants of every .mlir file of test/ and examples/ are parsed, verified,
// printed and run through the passes, in forked workers. Each gives IR or an
// error; a signal, a failure without an error, IR that does not print and parse
// again, or a pass of ours that makes invalid IR fails the test.
//
// A signal outside moeq's passes with no code of moeq on the stack is
// upstream's: stock mlir-opt dies of such text too. So is what a mutant does
// not do by itself: where a declarative assembly format fails after a region
// whose values were used before, upstream's parser writes to freed memory.
// These mutants are listed and pass, as long as they are few.
//
//   MOEQ_FUZZ_COUNT=N  mutants (default 20000)
//   MOEQ_FUZZ_SEED=N   another set of them (default 1)
//   MOEQ_FUZZ_ITEM=N   only this one, in this process, after printing it
//
//===----------------------------------------------------------------------===//

#include "Mutator.h"
#include "Workers.h"

#include "moeq/RegisterAll.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <thread>

using namespace mlir;
using namespace moeq_fuzz;

namespace {

/// A pipeline on the module, run on each `every`-th mutant if it verifies.
/// Upstream's folders make invalid IR of what is undefined, such as slices out
/// of bounds.
struct Pipeline {
  const char *text;
  bool isOurs = true;
  unsigned every = 1;
};

constexpr Pipeline pipelines[] = {
    {"canonicalize,cse", false},
    {"moeq-decompose"},
    {"moeq-decompose{form=linear unroll-limit=2}"},
    {"moeq-decompose{form=linear device-offsets=true}"},
    {"moeq-fuse"},
    {"moeq-smooth-quant"},
    {"moeq-unpack-scaled"},
    {"moeq-unpack-scaled{assert-cuts=true}"},
    {"moeq-select-config"},
    {"moeq-tile"},
    {"moeq-tile{tile-m=32 tile-n=32 fuse=true}"},
    {"moeq-decompose,moeq-fuse,moeq-tile{tile-m=16 tile-n=64},"
     "moeq-unpack-scaled"},
    {"moeq-expand-small-floats"},
    {"moeq-gpu-tiles-to-scf"},
    {"moeq-to-linalg"},
    {"gpu.module(convert-moeq-gpu-to-nvgpu)"},
    {"gpu.module(moeq-small-floats-to-nvvm)"},
    {"moeq-outline-kernels"},
    {"moeq-attach-target,moeq-split-kernels"},
    {"moeq-print-manifest"},
    {"moeq-check-lowered"},
    {"moeq-to-cpu", false, 16},
    {"moeq-to-kernels", false, 8},
    {"moeq-to-ptx", false, 16},
};

int64_t environment(const char *name, int64_t otherwise) {
  const char *text = std::getenv(name);
  return text ? std::atoll(text) : otherwise;
}

/// The pieces between `// -----` of every .mlir file below `folder`, without
/// comment lines.
void readCorpus(StringRef folder, std::vector<std::string> &corpus) {
  std::vector<std::string> paths;
  std::error_code error;
  for (llvm::sys::fs::recursive_directory_iterator it(folder, error), end;
       it != end && !error; it.increment(error))
    if (StringRef(it->path()).ends_with(".mlir"))
      paths.push_back(it->path());
  llvm::sort(paths);
  for (const std::string &path : paths) {
    auto file = llvm::MemoryBuffer::getFile(path);
    if (!file)
      continue;
    std::string piece;
    auto close = [&] {
      // Whole kernels are too long for the number of mutants. Upstream's
      // transform ops print more operands than they were verified to have, and
      // sizes of kDynamic that they do not parse.
      if (!StringRef(piece).trim().empty() && piece.size() < 16384 &&
          !StringRef(piece).contains("transform.named_sequence"))
        corpus.push_back(piece);
      piece.clear();
    };
    SmallVector<StringRef> lines;
    (*file)->getBuffer().split(lines, '\n');
    for (StringRef line : lines) {
      if (line.starts_with("// -----"))
        close();
      else if (!line.trim().starts_with("//"))
        piece += (line + "\n").str();
    }
    close();
  }
}

/// One context, its pass managers and what is done to a mutant.
class Checker {
public:
  Checker() {
    DialectRegistry registry;
    moeq::registerAllDialects(registry);
    context = std::make_unique<MLIRContext>(registry,
                                            MLIRContext::Threading::DISABLED);
    // A pipeline that is run twice may not see its op's dialect loaded between.
    context->loadAllAvailableDialects();
    context->getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      errors += diagnostic.getSeverity() == DiagnosticSeverity::Error;
      return success();
    });
    for (const Pipeline &pipeline : pipelines) {
      managers.push_back(std::make_unique<PassManager>(context.get()));
      managers.back()->enableVerifier(false);
      if (failed(parsePassPipeline(pipeline.text, *managers.back())))
        std::abort();
    }
  }

  OwningOpRef<ModuleOp> parse(StringRef text) {
    return parseSourceString<ModuleOp>(text, context.get());
  }

  void check(const std::string &text, Progress &progress) {
    errors = 0;
    ++progress.counts[3];
    progress.setPhase("parse", true);
    OwningOpRef<ModuleOp> module = parse(text);
    if (!module) {
      if (!errors)
        giveUp(progress, "failed without an error");
      return;
    }
    ++progress.counts[0];

    progress.setPhase("print", true);
    std::string printed;
    llvm::raw_string_ostream(printed) << *module;
    progress.setPhase("parse what was printed", true);
    if (!parse(printed))
      giveUp(progress, "does not parse");

    for (auto [pipeline, manager] : llvm::zip(pipelines, managers)) {
      if (progress.item % pipeline.every != 0)
        continue;
      OwningOpRef<ModuleOp> clone(module->clone());
      errors = 0;
      progress.setPhase(pipeline.text,
                        !StringRef(pipeline.text).contains("moeq"));
      LogicalResult result = manager->run(*clone);
      if (failed(result) && !errors)
        giveUp(progress, "failed without an error");
      // Index arithmetic overflows on extents near the end of 64 bits.
      bool isHuge = StringRef(text).contains("9223372036854775807");
      if (succeeded(result) && pipeline.isOurs && !isHuge &&
          failed(verify(*clone)))
        giveUp(progress, "made invalid IR");
      ++progress.counts[succeeded(result) ? 1 : 2];
    }
  }

private:
  std::unique_ptr<MLIRContext> context;
  std::vector<std::unique_ptr<PassManager>> managers;
  int64_t errors = 0;
};

class Fuzz : public testing::Test {
protected:
  static void SetUpTestSuite() {
    moeq::registerAllPasses();
    std::vector<std::string> corpus;
    readCorpus(MOEQ_SOURCE_DIR "/test", corpus);
    readCorpus(MOEQ_SOURCE_DIR "/examples", corpus);
    Checker checker;
    for (const std::string &text : corpus) {
      OwningOpRef<ModuleOp> module = checker.parse(text);
      (module ? valid : invalid).push_back(text);
      if (!module)
        continue;
      add(*module);
      // One function breaks seldomer than many.
      if (llvm::hasSingleElement(module->getOps()))
        continue;
      for (Operation &op : module->getOps()) {
        OwningOpRef<ModuleOp> alone(ModuleOp::create(module->getLoc()));
        alone->push_back(op.clone());
        if (succeeded(verify(*alone)))
          add(*alone);
      }
    }
  }

  /// Adds the text and the generic form, where properties are spelled out.
  static void add(ModuleOp module) {
    for (bool generic : {false, true}) {
      llvm::raw_string_ostream os(valid.emplace_back());
      module.print(os, OpPrintingFlags().printGenericOpForm(generic));
    }
  }

  static std::vector<std::string> valid, invalid;
};

std::vector<std::string> Fuzz::valid, Fuzz::invalid;

} // namespace

TEST_F(Fuzz, MutantsGiveIROrErrors) {
  ASSERT_GT(valid.size(), 100u);
  ASSERT_GT(invalid.size(), 100u);
  int64_t count = environment("MOEQ_FUZZ_COUNT", 20000);
  Mutator mutator(valid, invalid, environment("MOEQ_FUZZ_SEED", 1));
  int64_t only = environment("MOEQ_FUZZ_ITEM", -1);
  if (only >= 0) {
    std::string mutant = mutator.get(only);
    llvm::outs() << mutant;
    llvm::outs().flush();
    Progress progress = {};
    Checker().check(mutant, progress);
    return;
  }

  int64_t counts[4] = {};
  std::vector<Failure> failures = forEachInWorkers(
      count, std::max(1u, std::thread::hardware_concurrency()), /*seconds=*/60,
      "4moeq",
      [&] {
        auto checker = std::make_shared<Checker>();
        return [&, checker](Progress &progress) {
          checker->check(mutator.get(progress.item), progress);
        };
      },
      counts);
  int64_t upstream = 0;
  for (const Failure &failure : failures) {
    std::string what = "mutant " + std::to_string(failure.item) + ": " +
                       failure.phase + ": " + failure.reason;
    if (failure.isForeign) {
      ++upstream;
      llvm::outs() << "upstream: " << what << "\n";
      continue;
    }
    ADD_FAILURE() << what << "\n" << mutator.get(failure.item);
  }
  EXPECT_LE(upstream, 1 + count / 1000);
  llvm::outs() << count << " mutants of " << valid.size() + invalid.size()
               << " texts: " << counts[3] << " run, " << counts[0] << " valid, "
               << counts[1] << " pipelines succeeded, " << counts[2]
               << " gave an error\n";
  // Mutations that leave nothing valid test the parser alone.
  EXPECT_GT(counts[0], count / 20);
}
