"""A server of which only the protocol is known: the standard fields, and none beyond them."""

from components.judge.profiles.base import Profile


class Generic(Profile):
    """Also the embedded CPU server."""

    name = "generic"
