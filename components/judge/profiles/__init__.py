"""What each kind of server understands: its routes and fields, and how it says no; one module a provider."""

from components.judge.profiles.base import Profile
from components.judge.profiles.choose import profile_for

__all__ = ["Profile", "profile_for"]
