"""The exceptions that users of analogical may want to catch."""

__all__ = ["AnalogicalError", "InputError", "MissingDependencyError"]


class AnalogicalError(Exception):
    """Anything that analogical refuses; the command line turns it into one line and exit code 2."""


class InputError(AnalogicalError, ValueError):
    """The table, the label or a parameter is not what was expected; the message says how to go on."""


class MissingDependencyError(AnalogicalError, ImportError):
    """An optional library is needed and not installed; the message has the install line."""
