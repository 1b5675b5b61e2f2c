"""Exceptions that users may want to catch."""

__all__ = ["AnalogicalError", "InputError", "MissingDependencyError", "SparkError"]


class AnalogicalError(Exception):
    """Base class of all errors of analogical; the command line prints it in one line and exits with code 2.

    Examples
    --------
    >>> from analogical import AnalogicalError, load_table
    >>> try:
    ...     load_table("iris")
    ... except AnalogicalError as refused:
    ...     print(refused)
    There is no built-in table 'iris'; choose from monks-1, monks-2, monks-3, berkeley, titanic, rents.
    """


class InputError(AnalogicalError, ValueError):
    """The table, the label or a parameter is not what was expected; the message says how to go on.

    Examples
    --------
    >>> from analogical import InputError, relevance
    >>> try:
    ...     relevance([["a", "c"], ["b", "d"]], [0, 1], confidence=95)
    ... except InputError as refused:
    ...     print(refused)
    confidence must be a number between 0 and 1, such as 0.95, got 95.
    """


class MissingDependencyError(AnalogicalError, ImportError):
    """An optional library is needed and not installed; the message has the install line.

    Examples
    --------
    >>> from analogical import MissingDependencyError
    >>> [kind.__name__ for kind in MissingDependencyError.__bases__]
    ['AnalogicalError', 'ImportError']
    """


class SparkError(AnalogicalError, RuntimeError):
    """Spark could not finish a job; no result is computed from a part of the rows.

    Examples
    --------
    >>> from analogical import SparkError
    >>> [kind.__name__ for kind in SparkError.__bases__]
    ['AnalogicalError', 'RuntimeError']
    """
