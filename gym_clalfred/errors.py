"""The project's exceptions. Messages say what was expected, what was found and what to do.

Each one also derives from the matching built-in exception, so ``except ValueError`` works
without knowing this project.
"""


class ClAlfredError(Exception):
    """Base of everything this project raises on purpose."""


class BadInputError(ClAlfredError, ValueError):
    """An argument, option or action has the wrong type, shape or range."""


class UnknownMethodError(BadInputError):
    """No continual-learning method of that name is known to this process."""


class UnknownTaskError(BadInputError):
    """No task type is registered under the name."""


class UnknownAgentError(BadInputError):
    """No agent of that name is known to this process."""


class UsageError(ClAlfredError, RuntimeError):
    """A method was called at the wrong time, such as ``step`` before ``reset``."""


class DataError(ClAlfredError, ValueError):
    """A file violates its format; the message names the file and the field."""


class StreamError(UsageError):
    """A task stream was asked for an episode that its schedule does not hand out now."""


class SimulatorError(ClAlfredError, RuntimeError):
    """The simulator crashed, hung or sent a broken answer; the episode counts as failed."""


class MissingDependencyError(ClAlfredError, ImportError):
    """An optional package is needed; the message gives the command that installs it."""


class StorageError(ClAlfredError, OSError):
    """A folder cannot be written to: full, read-only or in use. Its contents are unchanged."""


class FilmError(ClAlfredError):
    """A film could not be encoded."""


class DivergenceError(ClAlfredError):
    """Training has produced numbers that are not finite."""
