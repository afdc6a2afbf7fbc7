#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The JSON reader against Python's json module: the same texts are accepted and read as the same
values. usage: json_python.py CANONICAL FOLDER, where CANONICAL is the program built from
json_canonical.c and FOLDER has valid/, invalid/, policy/ and policy.txt."""
import decimal
import json
import pathlib
import random
import struct
import subprocess
import sys

# Known differences, where Python does not follow RFC 8259 or leaves more room than we do:
#   NaN, Infinity and -Infinity are accepted by Python: refused here through parse_constant.
#   A surrogate without its partner is kept by Python: we read U+FFFD.
#   1e400 is infinity for Python: we keep the text ("beyond").
#   Python has no depth limit of 128: only policy/ goes deeper.
sys.set_int_max_str_digits(0)
decimal.getcontext().prec = 2000
decimal.getcontext().Emax = decimal.MAX_EMAX
decimal.getcontext().Emin = decimal.MIN_EMIN


class Refused(Exception):
    pass


def refuse_constant(_):
    raise Refused


class Number(str):
    """A number, already in its canonical form."""


def number(text):
    try:
        value = decimal.Decimal(text)
    except decimal.InvalidOperation:  # an exponent beyond even that
        value = decimal.Decimal(text.lower().split("e")[0])
        value = value and decimal.Decimal("0.5")  # 0, or anything that is not integral
    if value == value.to_integral_value() and -(2**63) <= value < 2**63:
        return Number(int(value))
    real = float(text)
    if real in (float("inf"), float("-inf")):
        return Number("beyond")
    return Number("d" + struct.pack(">d", real).hex())


class Pairs(list):
    """The members of a map."""


def string(text):
    units = text.encode("utf-16-be", "surrogatepass")
    clean = units.decode("utf-16-be", "replace") if has_lone_surrogate(text) else text
    return '"' + clean.encode("utf-16-be").hex() + '"'


def has_lone_surrogate(text):
    return any(0xD800 <= ord(c) <= 0xDFFF for c in text)


def canonical(value):
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, str):
        return string(value)
    if isinstance(value, Pairs):
        return "{" + "".join("," + string(k) + canonical(v) for k, v in value) + "}"
    if isinstance(value, list):
        return "[" + "".join("," + canonical(v) for v in value) + "]"
    return {None: "n", True: "t", False: "f"}[value]


def judge(data, constants=False):
    """What Python makes of the text; with constants, as it is without our help."""
    try:
        value = json.loads(
            data.decode("utf-8"), parse_int=number, parse_float=number, object_pairs_hook=Pairs,
            parse_constant=(lambda _: None) if constants else refuse_constant)
    except (ValueError, Refused, RecursionError):
        return "refused"
    return canonical(value)


def ours(program, texts):
    stream = b"".join(b"%d\n%s" % (len(t), t) for t in texts)
    lines = subprocess.run([program], input=stream, stdout=subprocess.PIPE,
                           check=True).stdout.decode().splitlines()
    assert len(lines) == len(texts), f"{len(lines)} answers for {len(texts)} texts"
    return lines


def random_text(rng):
    text = json.dumps([random_value(rng, 4) for _ in range(6)], ensure_ascii=rng.random() < 0.5,
                      indent=rng.choice([None, None, 1]))
    return text.encode("utf-8", "surrogatepass")


def random_value(rng, depth):
    kind = rng.randrange(9 if depth else 7)
    if kind == 0:
        return rng.choice([None, True, False])
    if kind == 1:
        return rng.randrange(-(2**70), 2**70) >> rng.randrange(70)
    if kind == 2:
        return struct.unpack(">d", rng.randbytes(8))[0]
    if kind == 3:
        return rng.uniform(-1000, 1000)
    if kind < 7:
        letters = 'ab"\\/\n\t\x01\x7f\u00e9\u20ac\U0001f600{}[]:,'
        return "".join(rng.choice(letters) for _ in range(rng.randrange(12)))
    if kind == 7:
        return [random_value(rng, depth - 1) for _ in range(rng.randrange(5))]
    return {random_value(rng, 0) if rng.random() < 0.2 else f"k{i}": random_value(rng, depth - 1)
            for i in range(rng.randrange(5))}


def damaged(rng, text):
    data = bytearray(text)
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(data) + 1)
        byte = rng.choice(b'{}[]",:\\ \n0123456789.eE+-tfnu\x00\x1f\x80\xc2\xe0\xed\xf0\xff')
        if rng.random() < 0.5:
            data[at:at + 1] = bytes([byte])
        else:
            data[at:at] = bytes([byte]) if rng.random() < 0.5 else b""
            del data[at:at + rng.randrange(2)]
    return bytes(data)


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    failures = []
    cases = []  # name, text, what must come out (or None: whatever Python says)
    for path in sorted((folder / "valid").iterdir()):
        data = path.read_bytes()
        if judge(data) == "refused":
            failures.append(f"{path.name}: Python refuses it")
        cases.append((path.name, data, None))
    for path in sorted((folder / "invalid").iterdir()):
        data = path.read_bytes()
        if judge(data) != "refused":
            failures.append(f"{path.name}: Python accepts it")
        cases.append((path.name, data, None))
    for line in (folder / "policy.txt").read_text().splitlines():
        if line.startswith("#"):
            continue
        name, text, _, _, python = line.split()[:5]
        data = (folder / "policy" / f"{name}.json").read_bytes()
        accepted = judge(data, constants=True) != "refused"
        if accepted != (python == "accept"):
            failures.append(f"{name}: Python {'accepts' if accepted else 'refuses'} it")
        cases.append((name, data, "refused" if text == "refuse" else None))
    rng = random.Random(7)
    texts = [random_text(rng) for _ in range(4000)]
    cases += [("random text", t, None) for t in texts]
    cases += [("damaged text", damaged(rng, t), None) for t in texts for _ in range(2)]
    refused = 0
    for (name, data, expected), got in zip(cases, ours(program, [c[1] for c in cases])):
        refused += got == "refused"
        expected = expected or judge(data)
        if got != expected:
            failures.append(f"{name}: {data[:300]!r}\n"
                            f"  ours:   {got[:300]}\n  python: {expected[:300]}")
    for failure in failures[:20]:
        print(failure)
    print(f"{len(cases)} texts, {refused} refused, {len(failures)} differences")
    return 1 if failures else 0


sys.exit(main())
