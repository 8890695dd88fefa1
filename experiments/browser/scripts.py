"""Data as a script that hands them to the page: a page opened from disk may load scripts, and nothing else."""

import json

import orjson

_UNSAFE = {sign.encode(): f"\\u{ord(sign):04x}".encode() for sign in "<>\u2028\u2029"}


def script(name: str, content: object) -> bytes:
    r"""A script that registers the content under the name; no text in it can end the script or be taken for another.

    >>> script("index", ["</script>\u2028"]).decode()
    '"use strict";voirdire("index",["\\u003c/script\\u003e\\u2028"]);\n'
    """
    try:
        text = orjson.dumps(content, option=orjson.OPT_SERIALIZE_NUMPY)
    except orjson.JSONEncodeError:  # A lone surrogate, which UTF-8 can't hold.
        text = json.dumps(content).encode()
    for sign, code in _UNSAFE.items():
        text = text.replace(sign, code)
    return b'"use strict";voirdire("%b",%b);\n' % (name.encode(), text)
