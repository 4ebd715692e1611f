"""Values that readers of files tend to trip over."""

import datetime
import math
from decimal import Decimal
from typing import Any

NUMBERS = (
    *("0", "-0", "-1", "1.5", "1e3", "1e308", "1e999", "-1e999", "1e-400", "NaN", "nan", "inf", "-Infinity"),
    *("0x10", "1_000", "1,5", " 7 ", "+7", "007", "7.", ".7", "7.0", "\u0663", "\u00bd", "true", "null", "None"),
    *(str(2**31 - 1), str(2**31), str(2**53), str(2**63 - 1), str(-(2**63)), str(2**63), str(2**64), "9" * 30),
    *("9" * 5_000, "0." + "0" * 5_000 + "1"),
)
TEXTS = (
    *(
        "",
        " ",
        "\0",
        "\t",
        "\n",
        "\r\n",
        "\r",
        "\ufeff",
        "\u2028",
        "\u202e",
        "\x1b[31m",
        "\U0001f4a5",
        "\u00e9",
        "e\u0301",
    ),
    *(
        '"',
        '""',
        "'",
        "\\",
        ",",
        ";",
        "<",
        ">",
        "&",
        "&amp;",
        "&#0;",
        "&x;",
        "]]>",
        "<!--",
        "<?",
        "{}",
        "%s",
        "../..",
        "~",
    ),
    *("2024-01-02T09:30:00Z", "2024-13-45", "9999-12-31T23:59:59.999999999+14:00", "-0001-01-01", "1h", "5%", "5/0"),
    *("A" * 17, "A" * 300, "A" * 70_000, "A" * 1_500_000),
)
MARKS = (  # bytes that mean something to a parser
    *(b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\0", b"\xff", b"\x80", b"\xed\xa0\x80", b"\xc0\xaf", b"\x1a"),
    *(b"\x1f\x8b", b"PAR1", b"ARROW1", b"PK\x03\x04", b'"', b"\r", b"\n", b"\r\n", b",", b"<!DOCTYPE x>", b"<!ENTITY"),
    *(bytes(8), b"\xff" * 8, b"\x7f" + b"\xff" * 7, b"\xff" * 7 + b"\x7f", b"\0\0\0\x80", b"\xff\xff\xff\x7f"),
    *(b"[" * 20_000, b'{"a":' * 20_000, b"(" * 20_000, b"<a>" * 20_000, b"a." * 20_000 + b"a = 1\n", b"\n" * 20_000),
)
JSON_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 7.5, 1e308, math.nan, math.inf, -math.inf, 2**31, 2**53, 2**63, 2**64, 10**30),
    *("", "x", "1", "max", "\0", "\n", "\U0001f4a5", "..", "/", "A" * 70_000),
    *([], {}, [None], [[]], [{}], {"": None}, {"a": {"b": []}}, [0] * 10_000),
)
CELLS: tuple[Any, ...] = (
    *(None, True, 0, -1, 1, 2**31, 2**63 - 1, -(2**63), 2**64 - 1, 0.5, 1e300, math.nan, math.inf, -math.inf),
    *("", "x", "1", "1e999", "\0", "\n", "A" * 17, "A" * 70_000, b"\xff\xfe", b"", Decimal("1e30"), Decimal("0.1")),
    *(datetime.datetime(9999, 12, 31), datetime.datetime(1, 1, 1), datetime.date(2024, 1, 2), datetime.timedelta(1)),
    *([], [1], {}, {"a": 1}),
)
