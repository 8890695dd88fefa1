"""Data as a script that hands them to the page: a page opened from disk may load scripts, and nothing else."""

import json

import orjson

_UNSAFE = {ord("<"): "\\u003c", ord(">"): "\\u003e", 0x2028: "\\u2028", 0x2029: "\\u2029"}


def script(name: str, content: object) -> bytes:
    r"""A script that registers the content under the name; no text in it can end the script or be taken for another.

    >>> script("index", ["</script>\u2028"]).decode()
    '"use strict";voirdire("index",["\\u003c/script\\u003e\\u2028"]);\n'
    """
    try:
        text = orjson.dumps(content, option=orjson.OPT_SERIALIZE_NUMPY).decode()
    except (orjson.JSONEncodeError, UnicodeDecodeError):  # A lone surrogate, which UTF-8 can't hold.
        text = json.dumps(content)
    return f'"use strict";voirdire("{name}",{text.translate(_UNSAFE)});\n'.encode()
