"""The relaxed index: encode, compare rows at every distance, and credit the features on which they differ."""

from typing import Any, Unpack

from analogical._checks import check_radius
from analogical._types import Floats
from analogical.columns.rules import ColumnOptions
from analogical.estimate.radius import Radius, relaxed_scores
from analogical.study import study_of

__all__ = ["relaxed_index"]


def relaxed_index(
    X: Any,
    y: Any = None,
    *,
    radius: Radius = "auto",
    n_jobs: int | None = None,
    **columns: Unpack[ColumnOptions],
) -> Floats:
    """The relaxed index of every feature: the paper's index, with rows that differ on several features compared too.

    The paper compares rows that differ on one feature only, of which a wide table has few. Here rows at every distance
    are compared, near ones with more weight. The model: each feature on which two rows differ changes the label
    independently with some probability (noisy-or); the index is that probability, fitted to all pairs. It finds
    features that act only together among many irrelevant ones. It is a screen, without intervals or tests, and noise in
    the labels makes every feature look weakly relevant. For effects and tests see :func:`analogical.relevance`.

    Parameters
    ----------
    X, y, n_jobs
        As in :func:`analogical.relevance`; or a :class:`analogical.Study`, without ``y``.
    radius : int or "auto"
        On how many features two rows may differ. "auto" leaves out only pairs with negligible weight; 1 is the paper's
        index.
    **columns : options of columns
        See :class:`analogical.ColumnOptions`; all but ``groups``.

    Returns
    -------
    ndarray of float
        One score per feature from 0 to 1; NaN for a constant feature, or one on which no two compared rows differ.

    Raises
    ------
    InputError
        If the table or the label cannot be used; the message says what is wrong and how to go on.

    Notes
    -----
    All classes have the same weight. The score of a feature on which few pairs differ is shrunk. Numbers are scored in
    their bins and in three and two coarser ones, and the scores averaged. Pairs of at most about 14,000 rows are
    compared and a million of them kept, drawn with a fixed seed, so the same table always has the same scores.

    Examples
    --------
    The exclusive or of two features out of 20, in 200 rows, of which no two differ on one feature only:

    >>> import numpy as np
    >>> from analogical import ari_score, relaxed_index
    >>> X = np.random.default_rng(0).integers(0, 3, (200, 20))
    >>> y = (X[:, 4] > 0) ^ (X[:, 7] > 0)
    >>> scores = relaxed_index(X, y)
    >>> sorted(np.argsort(-scores)[:2].tolist())
    [4, 7]
    >>> bool(np.isnan(ari_score(X, y)).all())
    True
    """
    study = study_of(relaxed_index, X, y, columns, without=("groups",), n_jobs=n_jobs, needs_rows=True)
    radius = check_radius(radius, study.n_features)
    return relaxed_scores(study.rows, radius, n_bins=study.table.n_bins, n_jobs=study.n_jobs)
