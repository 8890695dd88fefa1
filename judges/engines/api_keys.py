"""Keys: from the environment only, and cut out of everything that comes back."""

import os

from judges.engines.settings import Endpoint
from judges.records import UserError

NONE = "none"
"""What is sent where an endpoint wants no key and its client insists on one."""


class Key:
    """A key that no print, log or error shows."""

    __slots__ = ("_name", "_value")

    def __init__(self, endpoint: Endpoint) -> None:
        """Takes the key from the variable that the endpoint names.

        Raises:
            UserError: it is not set, or can be no key.
        """
        self._name = endpoint.key_env
        self._value = os.environ.get(self._name, "").strip() if self._name else ""
        if self._name and not self._value:
            raise UserError(
                f"{endpoint.base_url} wants a key, and the environment variable {self._name} is not set: "
                f"export {self._name}=..., or name another variable in model.key_env (empty for an endpoint without)"
            )
        if not self._value.isascii() or any(c.isspace() for c in self._value):
            raise UserError(f"what {self._name} holds is no key: it has spaces or letters that no header can carry")

    def reveal(self) -> str:
        """The key, for the client that sends it."""
        return self._value or NONE

    def hide(self, said: bytes) -> bytes:
        """The same with the variable's name in place of the key."""
        return said.replace(self._value.encode(), f"${self._name}".encode()) if self._value else said

    def __repr__(self) -> str:
        return f"Key(${self._name})"
