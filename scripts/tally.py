"""Adds up the JUnit reports of a folder: names the failures, closes with the counts."""

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def tally(folder: Path) -> tuple[int, int, int]:
    """The numbers of passed, failed and skipped tests of all reports in `folder`."""
    passed = failed = skipped = 0
    for report in sorted(folder.glob("*.xml")):
        for case in ElementTree.parse(report).iter("testcase"):
            if case.find("failure") is not None or case.find("error") is not None:
                failed += 1
                print(f"failed: {report.stem}: {case.get('classname', '')} {case.get('name')}")
            elif case.find("skipped") is not None or case.get("result") == "skipped":
                skipped += 1
            else:
                passed += 1
    return passed, failed, skipped


if __name__ == "__main__":
    passed, failed, skipped = tally(Path(sys.argv[1]))
    suffix = f", {skipped} skipped" if skipped else ""
    print(f"{passed} passed, {failed} failed{suffix}")
    sys.exit(1 if failed or not passed else 0)
