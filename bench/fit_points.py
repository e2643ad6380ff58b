"""Fit the points of the evidence on recorded questions about public repositories, and write ranking/points.py.

Each question names a version; its answer is a branch, the default branch, or none (`gone`). The points are those under
which the softmax of the sums predicts the answers best: a conditional logit, every repository weighing the same, with a
penalty on large points. Five folds by repository say how well that holds where nothing was fitted.

usage: python -m bench.fit_points CORPUS_FOLDER [--write] [--without CODE ...]

CORPUS_FOLDER holds corpus.ndjson.gz, corpus-1.ndjson.gz and score.py, which says what a question's answers are. Needs
the extra `fit` (numpy, scipy). Nothing is random.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import json
import sys
import zlib
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from ranking import weights
from ranking.facts import Facts
from ranking.ranker import read_view
from ranking.signals import read_case
from ranking.versions import read_label

SCALE = 10
PENALTY = 0.3
LEAST_REPOSITORIES = 5
FOLDS = 5
CORPORA = ("corpus.ndjson.gz", "corpus-1.ndjson.gz")
_NAMED = ("exact", "line", "coarse", "inside", "sibling")
REFERENCES = {"habit|none": (*_NAMED, "none", "contrary"), "template|new|lacks": _NAMED}
DEFERRED = ("gone", "unborn", "trunk", "no-version")
POINTS = Path(__file__).resolve().parent.parent / "ranking" / "points.py"


class Question(NamedTuple):
    """One question: what may be answered (None: no branch), each with its codes, and which of that is right."""

    repository: str
    corpus: str
    kind: str
    default: str
    right: frozenset[str | None]
    rows: list[tuple[str | None, tuple[str, ...]]]


def main() -> int:
    """Fit, report by fold, and write where asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", action="store_true", help="write ranking/points.py")
    parser.add_argument("--without", nargs="*", default=[], help="leave out codes that begin so")
    parser.add_argument("--derive-at", type=float, nargs="*", default=[0.5, 0.6, 0.7, 0.8, 0.9])
    args = parser.parse_args()
    questions = [q for name in CORPORA for q in read_questions(args.folder, name)]
    if args.without:
        questions = [_without(q, tuple(args.without)) for q in questions]
    questions = _supported(questions)
    report(questions, args.derive_at)
    if args.write:
        points = fit(questions)
        POINTS.write_text(render(points, support(questions)), encoding="utf-8")
        print(f"{len(points)} codes written to {POINTS}")
    return 0


def read_questions(folder: Path, name: str) -> list[Question]:
    """Every question that names a version, with the signals of its candidates."""
    spec = importlib.util.spec_from_file_location("score", folder / "score.py")
    if spec is None or spec.loader is None:
        sys.exit(f"{folder}/score.py cannot be read")
    score = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(score)
    with gzip.open(folder / name, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    return [
        asked
        for record in records
        for question in record["questions"]
        if (asked := _read(record, question, name, score.bundle(record, question))) is not None
    ]


def _read(record: dict[str, Any], question: dict[str, Any], corpus: str, bundle: dict[str, Any]) -> Question | None:
    label = read_label(question["label"]) if question["label"] else None
    rows: list[tuple[str | None, tuple[str, ...]]] = []
    if label is not None:
        facts = msgspec.convert(bundle, Facts)
        case = read_case(label, read_view(facts).repo.refs)
        rows = [(c.branch, c.codes) for c in case.candidates]
        rows += [(record["default"], case.trunk), (None, case.nothing)]
    right = frozenset({None}) if question["kind"] == "gone" else frozenset(question["answers"])
    return Question(record["repo"], corpus, question["kind"], record["default"], right, rows)


def _without(question: Question, codes: tuple[str, ...]) -> Question:
    rows = [(name, tuple(c for c in has if not c.startswith(codes))) for name, has in question.rows]
    return question._replace(rows=rows)


def support(questions: list[Question]) -> Counter[str]:
    """In how many repositories each code occurs."""
    found = defaultdict(set)
    for question in questions:
        for _, codes in question.rows:
            for code in codes:
                found[code].add(question.repository)
    return Counter({code: len(repositories) for code, repositories in found.items()})


def _supported(questions: list[Question]) -> list[Question]:
    known = {code for code, n in support(questions).items() if n >= LEAST_REPOSITORIES} | weights.PRIORS.keys()
    return [q._replace(rows=[(n, tuple(c for c in has if c in known)) for n, has in q.rows]) for q in questions]


def fit(questions: list[Question]) -> dict[str, int]:
    """The points of each code."""
    used = [q for q in questions if any(name in q.right for name, _ in q.rows)]
    codes = sorted({code for q in used for _, has in q.rows for code in has} - weights.PRIORS.keys())
    column = {code: i for i, code in enumerate(codes)}
    each = Counter(q.repository for q in used)
    rows: list[int] = []
    columns: list[int] = []
    owner: list[int] = []
    right: list[bool] = []
    fixed: list[float] = []
    for i, question in enumerate(used):
        for name, has in question.rows:
            rows += [len(owner)] * sum(code in column for code in has)
            fixed.append(sum(weights.PRIORS.get(code, 0) for code in has) / SCALE)
            columns += [column[code] for code in has if code in column]
            owner.append(i)
            right.append(name in question.right)
    matrix = csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(len(owner), len(codes)))
    of, good, given = np.array(owner), np.array(right), np.array(fixed)
    start = np.searchsorted(of, np.arange(len(used)))
    weight = np.array([1 / each[q.repository] for q in used])
    weight *= len(used) / weight.sum()

    def loss(points: np.ndarray) -> tuple[float, np.ndarray]:
        sums = matrix @ points + given
        most = np.maximum.reduceat(sums, start)
        power = np.exp(sums - most[of])
        total = np.add.reduceat(power, start)
        hit = np.where(good, power, 0)
        hits = np.maximum(np.add.reduceat(hit, start), 1e-300)
        slope = weight[of] * (power / total[of] - hit / hits[of])
        value = -(weight * np.log(hits / total)).sum() + PENALTY * (points**2).sum() / 2
        return value, matrix.T @ slope + PENALTY * points

    found = minimize(loss, np.zeros(len(codes)), jac=True, method="L-BFGS-B", options={"maxiter": 500})
    points = {code: round(float(p) * SCALE) for code, p in zip(codes, found.x, strict=True)}
    for nothing_known, names in REFERENCES.items():
        _shift(points, nothing_known, names)
    return points


def _shift(points: dict[str, int], reference: str, names: tuple[str, ...]) -> None:
    """Count one group of signals from the one that tells nothing, so that this one gives no points; no sum changes.

    Every branch whose name relates to the version in one of these ways has exactly one signal of the group.
    """
    group, base = reference.partition("|")[0], points.get(reference, 0)
    for code in points:
        first = code.partition("|")[0]
        points[code] += base if first in names else -base if first == group else 0


def answer(points: dict[str, int], question: Question) -> tuple[dict[str | None, int], dict[str | None, float]]:
    """The sum of points and the probability of everything that may be answered."""
    sums = {name: sum(_points(points, code) for code in has) for name, has in question.rows}
    most = max(sums.values())
    power = {name: float(np.exp((s - most) / SCALE)) for name, s in sums.items()}
    alike = {codes: power[name] for name, codes in question.rows}
    total = sum(p for p in alike.values() if p < 1) + sum(p for p in power.values() if p >= 1)
    return sums, {name: p / total for name, p in power.items()}


def _points(points: dict[str, int], code: str) -> int:
    return weights.PRIORS.get(code, points.get(code, points.get(code.replace("|merged", "|newest"), 0)))


def judge(points: dict[str, int], question: Question, derive_at: float) -> tuple[str, float, bool]:
    """`right`, `wrong` or `held`, as the corpus counts them; the confidence; whether the first candidate was right."""
    if not question.rows:
        kept = "right" if question.kind in DEFERRED else "held"
        return kept, 1.0, kept == "right"
    sums, chance = answer(points, question)
    most = max(sums.values())
    tied = [name for name, s in sums.items() if s == most]
    sure = sum(chance[name] for name in tied)
    branches = [name for name in tied if name is not None and name != question.default]
    if len(branches) == len(tied) and sure >= derive_at:
        if all(name in question.right for name in branches):
            return "right", sure, True
        lone = len(branches) == 1
        return ("wrong" if lone or question.kind == "gone" else "held"), sure / len(tied), False
    close = [n for n, p in chance.items() if weights.RIVAL * p >= max(chance.values())]
    if question.default not in close and None not in close and sum(chance[n] for n in close) >= derive_at:
        alike = all(n in question.right for n in close)
        outcome = "right" if alike or question.kind == "gone" else "held"
        return outcome, max(chance.values()), max(chance, key=lambda n: chance[n]) in question.right
    least = chance.get(question.default, 0.0) + chance.get(None, 0.0)
    deferred = question.kind in DEFERRED
    return ("right" if deferred else "held"), least, deferred


def report(questions: list[Question], thresholds: list[float]) -> None:
    """Right, wrong and held where nothing was fitted, by fold, for several values of deriveAt; and the calibration."""
    fold = {q.repository: zlib.crc32(q.repository[::-1].encode()) % FOLDS for q in questions}
    fitted = [fit([q for q in questions if fold[q.repository] != k]) for k in range(FOLDS)]
    for at in thresholds:
        by: defaultdict[tuple[str, int], defaultdict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
        kinds: defaultdict[str, Counter[str]] = defaultdict(Counter)
        sure: list[tuple[float, bool]] = []
        for question in questions:
            k = fold[question.repository]
            outcome, confidence, right = judge(fitted[k], question, at)
            by[question.corpus, k][question.repository][outcome] += 1
            if question.corpus == CORPORA[0]:
                by[question.corpus, FOLDS][question.repository][outcome] += 1
                kinds[question.kind][outcome] += 1
                sure.append((confidence, right))
            else:
                by[question.corpus, FOLDS][question.repository][outcome] += 1
        print(f"deriveAt {at:.2f}; calibration error {calibration(sure):.2%}")
        for (corpus, k), found in sorted(by.items()):
            if corpus == CORPORA[0] or k == FOLDS:
                n = len(found)
                means = {o: sum(c[o] / c.total() for c in found.values()) / n for o in ("right", "wrong", "held")}
                label = "all" if k == FOLDS else f"fold {k}"
                print(f"  {corpus:22}{label:8}" + "  ".join(f"{o} {m:.2%}" for o, m in means.items()))
        if at == thresholds[0]:
            for kind, c in sorted(kinds.items()):
                print(f"  {kind:12}" + "  ".join(f"{o} {c[o] / c.total():.2%}" for o in ("right", "wrong", "held")))


def calibration(sure: list[tuple[float, bool]]) -> float:
    """The mean difference between what was promised and what was right, over bins of confidence."""
    edges = (0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 1.01)
    error = 0.0
    for low, high in pairwise(edges):
        inside = [(c, ok) for c, ok in sure if low <= c < high]
        if inside:
            promised = sum(c for c, _ in inside) / len(inside)
            error += len(inside) / len(sure) * abs(promised - sum(ok for _, ok in inside) / len(inside))
    return error


def render(points: dict[str, int], repositories: Counter[str]) -> str:
    """The text of ranking/points.py."""
    rows = "".join(
        f'    "{code}": ({points[code]}, {repositories[code]}),\n' for code in sorted(points) if points[code]
    )
    return (
        '"""Points of every signal, and in how many repositories it was met. Written by bench/fit_points.py."""\n\n'
        "from __future__ import annotations\n\n"
        "from collections.abc import Mapping\n"
        "from typing import Final\n\n"
        f"SCALE: Final = {SCALE}\n"
        '"""So many points more make a branch e times as likely."""\n\n'
        "POINTS: Final[Mapping[str, tuple[int, int]]] = {\n"
        f"{rows}"
        "}\n"
        '"""Signal to its points and the number of repositories of the fit in which it occurred."""\n'
    )


if __name__ == "__main__":
    sys.exit(main())
