"""The decoder in C refuses the headers that ours refuses, and no others."""

from __future__ import annotations

import io
import zlib

import pytest

from orthostream.compression import FrameError, OstReader
from orthostream.compression.stream.checks import VersionTwo
from orthostream.compression.stream.frame import HEADER, with_length
from orthostream.compression.stream.header_text import deflated

from .conftest import Decode

_NESTED = "[" * 60 + "]" * 60

#: Members of a header beside those that it needs.
_TEXTS = {
    "nothing else": "",
    "an empty list": ',"x":[]',
    "an empty object": ',"x":{}',
    "space": ' ,\t"x"\r\n : [ 1 , 2 ] ',
    "escapes": r',"x":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"',
    "half a pair, where nobody looks": r',"x":"\ud83d"',
    "half a pair in a name": r',"name":["\ud83d"]',
    "half a pair in a unit": r',"unit":"\ude00x"',
    "a key by escapes": r',"\u0078":1',
    "a key twice": ',"x":1,"x":2',
    "a key twice, by escapes": r',"x":1,"\u0078":2',
    "a key twice, below": ',"x":{"y":1,"y":2}',
    "a trailing comma": ",",
    "two commas": ',,"x":1',
    "a trailing comma in a list": ',"x":[1,]',
    "a comma first": ',"x":[,1]',
    "no colon": ',"x" 1',
    "no value": ',"x":',
    "no quotes": ",x:1",
    "single quotes": ",'x':1",
    "a bad escape": r',"x":"\q"',
    "a short escape": r',"x":"\u12"',
    "a bad hexadecimal": r',"x":"\u12g4"',
    "a control character": ',"x":"\x01"',
    "a line feed in a text": ',"x":"\n"',
    "a zero byte": ',"x":"\0"',
    "a zero byte by escape": r',"name":["\u0000"]',
    "an open text": ',"x":"y',
    "a leading zero": ',"x":01',
    "no digits after the point": ',"x":1.',
    "no digits before the point": ',"x":.5',
    "no digits of an exponent": ',"x":1e',
    "a plus": ',"x":+1',
    "a minus alone": ',"x":-',
    "minus zero": ',"x":-0',
    "numbers": ',"x":[0,-1.5,1e5,2E-3,1.25e+10,0.0]',
    "hexadecimal": ',"x":0x10',
    "a long integer": f',"x":{10**19}',
    "a longer integer": f',"x":{10**20}',
    "a large number": ',"x":1e400',
    "a small number": ',"x":1e-400',
    "Infinity": ',"x":Infinity',
    "minus Infinity": ',"x":-Infinity',
    "NaN": ',"x":NaN',
    "words": ',"x":[null,true,false]',
    "a wrong word": ',"x":True',
    "words that go on": ',"x":nullx',
    "nested": f',"x":{_NESTED}',
    "nested too deeply": f',"x":[{_NESTED},{_NESTED}]',
    "a comment": ',"x":1/**/',
    "n of zero": ',"n":0',
    "n of 2 without names": ',"n":2',
    "n that is true": ',"n":true',
    "n that is a fraction": ',"n":1.0',
    "n that is a text": ',"n":"1"',
    "n that is too large": ',"n":65537',
    "a name": ',"name":["in"]',
    "one name for all": ',"name":"in"',
    "names that are null": ',"name":null',
    "too many names": ',"name":["in","out"]',
    "names that are numbers": ',"name":[1]',
    "names that are keys": ',"name":{"in":1}',
    "units that are null": ',"unit":null',
    "types that are null": ',"dtype":null',
    "a type": ',"dtype":"float32"',
    "a wrong type": ',"dtype":"float16"',
    "a time": ',"time":["t","s","",""]',
    "a time that is null": ',"time":null',
    "a time that is a text": ',"time":"abcd"',
    "a time of three": ',"time":["t","s",""]',
    "a time of numbers": ',"time":[1,2,3,4]',
    "a kind": ',"kind":"table"',
    "a wrong kind": ',"kind":"tables"',
    "a kind that is null": ',"kind":null',
    "a codec that is no text": ',"codec":1',
    "options that are a list": ',"options":[]',
    "a period": ',"options":{"period":24}',
    "a period of minus zero": ',"options":{"period":-0}',
    "a period that is true": ',"options":{"period":true}',
    "a period that is too long": ',"options":{"period":4097}',
    "another option": ',"options":{"memory":1}',
    "a target that is null": ',"target":null',
}


def _stream(version: int, text: bytes, *, plain: bool = False) -> bytes:
    if version == 1:
        body = zlib.compress(text)
    else:
        body = bytes([0 if plain else 1]) + bytes(8) + (text if plain else deflated(text))
    return b"OST" + bytes([version]) + with_length(VersionTwo(0).pack_marked(HEADER, 0, body))


def _compare(decode: Decode, data: bytes) -> None:
    try:
        OstReader(io.BytesIO(data))
    except FrameError:
        accepted = False
    else:
        accepted = True
    done = decode(data)
    # 2: there is no end.
    assert done.returncode == (2 if accepted else 1), done.stderr


@pytest.mark.parametrize("name", _TEXTS)
def test_headers_of_version_2(decode: Decode, name: str) -> None:
    more = _TEXTS[name]
    # A comma must not stand first.
    first = '"target":{"max_error":1}' if '"target"' not in more else '"y":1'
    text = ("{" + first + more + "}").encode()
    _compare(decode, _stream(2, text))
    _compare(decode, _stream(2, text, plain=True))


@pytest.mark.parametrize("name", _TEXTS)
def test_headers_of_version_1(decode: Decode, name: str) -> None:
    more = _TEXTS[name]
    inside = [key for key in ("name", "unit", "dtype", "time", "kind") if f'"{key}"' in more]
    n = "" if '"n"' in more else '"n":1'
    schema = "{" + (n + more if inside else n or more.lstrip(",")) + "}"
    outside = "" if inside or not n else more
    parts = {"codec": '"conditional"', "options": "{}", "target": "{}"}
    rest = "".join(f',"{key}":{value}' for key, value in parts.items() if f'"{key}"' not in outside)
    _compare(decode, _stream(1, ('{"schema":' + schema + rest + outside + "}").encode()))


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b" ",
        b"{}",
        b" {} ",
        b"[]",
        b"1",
        b"null",
        b"{} x",
        b"{}{}",
        b"{",
        b"\xef\xbb\xbf{}",
        b'{"x":"\xff"}',
        b'{"x":"\xc0\x80"}',
        b'{"x":"\xed\xa0\x80"}',
        b'{"x":"\xf4\x90\x80\x80"}',
        b'{"x":"\xe2\x82"}',
        b'{"x":"\xf0\x9f\x98\x80"}',
        b'{"x":[' + b"0," * (4 * 8192 + 256) + b"0]}",
        b'{"x":[' + b"0," * (4 * 8192 + 257) + b"0]}",
        b'{"x":"' + b'\\"' * (10 * 8192 + 4092) + b'"}',
        b'{"x":"' + b'\\"' * (10 * 8192 + 4093) + b'"}',
        b"{" + b",".join(b'"%d":0' % k for k in range(256)) + b"}",
        b"{" + b",".join(b'"%d":0' % k for k in range(257)) + b"}",
        b'{"x":"' + b" " * (1 << 20) + b'"}',
        b'{"x":"' + b" " * ((1 << 20) - 8) + b'"}',
    ],
    ids=range(25),
)
def test_whole_texts(decode: Decode, text: bytes) -> None:
    _compare(decode, _stream(2, text))
    _compare(decode, _stream(1, text))


def test_names_by_escapes(decode: Decode) -> None:
    done = decode(_stream(2, rb'{"name":["\u00e9\u20ac\ud83d\ude00\u0041\t\"\/"]}'))
    assert done.stdout == '"\u00e9\u20ac\U0001f600A\t""/"\n'


def test_bodies(decode: Decode) -> None:
    checks = VersionTwo(0)
    packed = deflated(b"{}")
    for body in (
        b"",
        b"\1" + bytes(7),
        b"\1" + bytes(8) + packed,
        b"\3" + bytes(8) + packed,
        b"\4" + bytes(8) + b"{}",
        b"\1" + bytes(8) + packed + b"x",
        b"\1" + bytes(8) + packed[:-1],
        b"\1" + bytes(8) + b"{}",
        b"\0" + bytes(8) + b"{}",
    ):
        _compare(decode, b"OST\2" + with_length(checks.pack_marked(HEADER, 0, body)))
