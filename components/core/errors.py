"""Errors that a user reads: what was wrong, where, and what to do about it."""


class GavelError(Exception):
    """A failure that the user can act on.

    Args:
        what: what is wrong, with the offending value.
        where: the file, key, row, URL or step that it concerns.
        remedy: what the user can do.
    """

    def __init__(self, what: str, *, where: str = "", remedy: str = "") -> None:
        self.what = what
        self.where = where
        self.remedy = remedy
        lines = [what]
        if where:
            lines.append(f"  where:  {where}")
        if remedy:
            lines.append(f"  remedy: {remedy}")
        super().__init__("\n".join(lines))


class ConfigError(GavelError):
    """The experiment specification, or the command line, asks for something that cannot be."""


class ContractError(GavelError):
    """A table or manifest at a step's boundary is not what its contract says."""


class StorageError(GavelError):
    """The store did not take, or did not give back, what it should."""


class ServiceError(GavelError):
    """A local service (store, judge, Ray) did not start, died, or is not ours."""


class JudgeError(GavelError):
    """The judge as a whole cannot be used: not deployed, wrong route, lacks what the protocol needs."""


class StepError(GavelError):
    """A step could not do its work."""
