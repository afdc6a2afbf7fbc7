# SPDX-License-Identifier: Apache-2.0
"""Just enough of HPACK (RFC 7541) to read what libcurl asks for, in printable ASCII. Entries
of the static table that no request of ours has are left out."""

# How many bits a character has, from the blank on. The code is canonical, so that is all.
BITS = [6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
        5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
        13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
        7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
        15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
        6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13]
STATIC = {1: (":authority", ""), 2: (":method", "GET"), 3: (":method", "POST"), 4: (":path", "/"),
          5: (":path", "/index.html"), 6: (":scheme", "http"), 7: (":scheme", "https"),
          16: ("accept-encoding", "gzip, deflate"), 19: ("accept", ""), 23: ("authorization", ""),
          28: ("content-length", ""), 31: ("content-type", ""), 58: ("user-agent", "")}
STATIC_COUNT = 61


def make_codes():
    """{(bits, code): character}, up to 15 bits; the NUL has 13 and is counted as well."""
    symbols = sorted([(13, "\0")] + [(bits, chr(32 + i)) for i, bits in enumerate(BITS)
                                     if bits <= 15])
    codes, code, last = {}, 0, symbols[0][0]
    for bits, symbol in symbols:
        code <<= bits - last
        codes[bits, code] = symbol
        code, last = code + 1, bits
    return codes


CODES = make_codes()


def decode_huffman(data):
    text, bits, code = [], 0, 0
    for byte in data:
        for shift in range(7, -1, -1):
            bits, code = bits + 1, code << 1 | byte >> shift & 1
            if (bits, code) in CODES:
                text.append(CODES[bits, code])
                bits, code = 0, 0
    return "".join(text)


class Decoder:
    def __init__(self):
        self.dynamic = []

    def entry(self, index):
        if index <= STATIC_COUNT:
            return STATIC.get(index, ("?", "?"))
        return self.dynamic[index - STATIC_COUNT - 1]

    def number(self, prefix):
        value = self.data[self.at] & (1 << prefix) - 1
        self.at += 1
        shift = 0
        if value == (1 << prefix) - 1:
            while True:
                byte = self.data[self.at]
                self.at += 1
                value += (byte & 127) << shift
                shift += 7
                if byte < 128:
                    break
        return value

    def text(self):
        packed = self.data[self.at] & 128
        length = self.number(7)
        raw = self.data[self.at:self.at + length]
        self.at += length
        return decode_huffman(raw) if packed else raw.decode("latin-1")

    def literal(self, index):
        name = self.entry(index)[0] if index else self.text()
        return name, self.text()

    def read(self, data):
        """The headers of a block."""
        self.data, self.at = data, 0
        headers = {}
        while self.at < len(data):
            first = data[self.at]
            if first & 128:
                name, value = self.entry(self.number(7))
            elif first & 64:
                name, value = self.literal(self.number(6))
                self.dynamic.insert(0, (name, value))
            elif first & 32:
                self.number(5)
                continue
            else:
                name, value = self.literal(self.number(4))
            headers[name] = value
        return headers
