"""The definitions in slow loops; imports nothing from analogical, so that it can be its oracle.

Read it against the paper: a pair for feature i is two rows that differ on i and agree everywhere else.
"""

from fractions import Fraction
from itertools import combinations, permutations, product
from math import log


def naive_counts(rows, labels, weights=None):
    """Pairs and changed pairs per feature, and what identical rows say, by comparing all rows with all."""
    rows = [tuple(row) for row in rows]
    weights = [1] * len(rows) if weights is None else [int(w) for w in weights]
    n_features = len(rows[0])
    pairs, changed = [0] * n_features, [0] * n_features
    identical = contradictions = 0
    for w in weights:
        identical += w * (w - 1) // 2
    for r, s in combinations(range(len(rows)), 2):
        differing = [i for i in range(n_features) if rows[r][i] != rows[s][i]]
        together = weights[r] * weights[s]
        if not differing:
            identical += together
            contradictions += together if labels[r] != labels[s] else 0
        elif len(differing) == 1:
            pairs[differing[0]] += together
            changed[differing[0]] += together if labels[r] != labels[s] else 0
    return {
        "pairs": pairs,
        "changed": changed,
        "n_values": [len({row[i] for row, w in zip(rows, weights, strict=True) if w}) for i in range(n_features)],
        "n_rows": sum(weights),
        "n_distinct": len({row for row, w in zip(rows, weights, strict=True) if w}),
        "n_identical": identical,
        "n_contradictions": contradictions,
    }


def naive_once(rows, labels):
    """The sample as a set: identical rows with an identical label once, in order of appearance."""
    kept = list(dict.fromkeys((tuple(row), label) for row, label in zip(rows, labels, strict=True)))
    return [row for row, _ in kept], [label for _, label in kept]


def naive_ari(rows, labels, feature):
    """The paper's index of one feature."""
    if len({row[feature] for row in rows}) == 1:
        return 0.0
    counts = naive_counts(rows, labels)
    if counts["pairs"][feature] == 0:
        return 2.0
    return counts["changed"][feature] / counts["pairs"][feature]


# ---------------------------------------------------------------- trust: how sure, how redundant, which rows


def naive_pairs(rows, labels, feature):
    """All pairs of a feature as positions (r, s) with r < s."""
    return [
        (r, s)
        for r, s in combinations(range(len(rows)), 2)
        if [i for i in range(len(rows[0])) if rows[r][i] != rows[s][i]] == [feature]
    ]


def naive_share(rows, labels, feature):
    """Changed pairs / pairs; None without pairs."""
    pairs = naive_pairs(rows, labels, feature)
    return sum(labels[r] != labels[s] for r, s in pairs) / len(pairs) if pairs else None


def naive_jackknife(rows, labels, feature):
    """Variance of the index over all tables with one row deleted; a table without pairs counts as the whole one."""
    whole = naive_share(rows, labels, feature)
    without = []
    for r in range(len(rows)):
        share = naive_share(rows[:r] + rows[r + 1 :], labels[:r] + labels[r + 1 :], feature)
        without.append(whole if share is None else share)
    n = len(rows)
    mean = sum(without) / n
    return (n - 1) / n * sum((share - mean) ** 2 for share in without)


def naive_pair_variance(rows, labels, feature):
    """Sum over pairs of (changed - index)^2, over the square of their number."""
    pairs = naive_pairs(rows, labels, feature)
    share = naive_share(rows, labels, feature)
    return sum(((labels[r] != labels[s]) - share) ** 2 for r, s in pairs) / len(pairs) ** 2


def naive_contexts(rows, feature):
    """Positions of the rows of each context, in order of appearance."""
    found = {}
    for r, row in enumerate(rows):
        found.setdefault(row[:feature] + row[feature + 1 :], []).append(r)
    return list(found.values())


def naive_context_tables(rows, labels, feature, weights=None):
    """Rows by (value, label) in each context that holds two values, as dictionaries; rows of weight 0 are no rows."""
    weights = [1] * len(rows) if weights is None else weights
    tables = {}
    for row, label, weight in zip(rows, labels, weights, strict=True):
        if weight:
            context = tuple(value for i, value in enumerate(row) if i != feature)
            table = tables.setdefault(context, {})
            table[row[feature], label] = table.get((row[feature], label), 0) + int(weight)
    return [table for table in tables.values() if len({value for value, _ in table}) > 1]


def naive_profile(rows, labels, feature, weights=None):
    """How many rows sit in how many (pairs, changed pairs) of a feature, without the rows that sit in none.

    With None instead of a feature, pairs of identical rows. A row of weight w is w rows.
    """
    weights = [1] * len(rows) if weights is None else [int(w) for w in weights]
    wanted = [] if feature is None else [feature]
    found = {}
    for r, weight in enumerate(weights):
        pairs = changed = 0
        for s, other in enumerate(weights):
            if [i for i in range(len(rows[0])) if rows[r][i] != rows[s][i]] == wanted:
                pairs += other - (r == s)
                changed += other if labels[r] != labels[s] else 0
        if weight and pairs:
            found[pairs, changed] = found.get((pairs, changed), 0) + weight
    return found


def naive_deals(rows, labels, feature):
    """All ways to deal the labels of each context to its rows."""
    contexts = naive_contexts(rows, feature)
    for orders in product(*(list(permutations(context)) for context in contexts)):
        dealt = list(labels)
        for context, order in zip(contexts, orders, strict=True):
            for r, s in zip(context, order, strict=True):
                dealt[r] = labels[s]
        yield dealt


def naive_separation(rows, labels):
    """Pairs of identical rows with the same label, each divided by the number of such rows."""
    return sum(
        1 / sum(row == rows[r] for row in rows)
        for r, s in combinations(range(len(rows)), 2)
        if rows[r] == rows[s] and labels[r] == labels[s]
    )


def naive_moments(numbers):
    """Mean, variance and skewness."""
    mean = sum(numbers) / len(numbers)
    variance, third = (sum((x - mean) ** k for x in numbers) / len(numbers) for k in (2, 3))
    return mean, variance, third / variance**1.5 if variance > 1e-12 else 0.0


def naive_direction(rows, labels, feature, a, b, label):
    """Pairs in which b has the label and a has not, and the reverse."""
    gained = lost = 0
    for r, s in naive_pairs(rows, labels, feature):
        if {rows[r][feature], rows[s][feature]} != {a, b}:
            continue
        x, y = (r, s) if rows[r][feature] == a else (s, r)
        gained += labels[y] == label != labels[x]
        lost += labels[x] == label != labels[y]
    return gained, lost


def naive_determined(rows, by, target):
    """Whether rows that agree on ``by`` agree on the target, and the sizes of the groups they make."""
    groups = {}
    for row in rows:
        groups.setdefault(tuple(row[i] for i in by), []).append(row[target])
    return all(len(set(values)) == 1 for values in groups.values()), [len(values) for values in groups.values()]


def naive_luck(rows, sizes, target):
    """Chance that an unrelated column with the target's shares of values is constant in groups of these sizes."""
    column = [row[target] for row in rows]
    chance = 1.0
    for size in sizes:
        chance *= sum((column.count(value) / len(column)) ** size for value in set(column))
    return chance


def naive_redundancies(rows):
    """Constants, renamings and minimal determinants of one or two columns that are no luck, over all subsets."""
    n = len(rows[0])
    constants = [i for i in range(n) if len({row[i] for row in rows}) == 1]
    varying = [i for i in range(n) if i not in constants]
    groups = []
    for i in varying:
        for group in groups:
            if naive_determined(rows, (i,), group[0])[0] and naive_determined(rows, (group[0],), i)[0]:
                group.append(i)
                break
        else:
            groups.append([i])
    real = []
    for group in groups:
        sizes = naive_determined(rows, (group[0],), group[0])[1]
        if len(group) > 1 and naive_luck(rows, sizes, group[0]) * (len(varying) - 1) <= 0.05:
            real.append(tuple(group))
    columns = [i for i in varying if not any(i in group[1:] for group in real)]
    found, known = [], set()
    for target in columns:
        for i in columns:
            holds, sizes = naive_determined(rows, (i,), target)
            if i != target and holds and naive_luck(rows, sizes, target) * (len(columns) - 1) <= 0.05:
                found.append((target, (i,), len(rows) - len(sizes)))
                known.add((target, i))
    for target in columns:
        candidates = [i for i in columns if i != target and (target, i) not in known]
        n_pairs = len(candidates) * (len(candidates) - 1) // 2
        for by in combinations(candidates, 2):
            holds, sizes = naive_determined(rows, by, target)
            alone = any(naive_determined(rows, (i,), target)[0] for i in by)
            if holds and not alone and naive_luck(rows, sizes, target) * n_pairs <= 0.05:
                found.append((target, by, len(rows) - len(sizes)))
    return constants, real, found


def naive_left(rows, target, by):
    """Share of the entropy of a column that is left when another one is known."""

    def entropy(values):
        return -sum(values.count(v) / len(values) * log(values.count(v) / len(values)) for v in set(values))

    groups = {}
    for row in rows:
        groups.setdefault(row[by], []).append(row[target])
    return sum(len(group) / len(rows) * entropy(group) for group in groups.values()) / entropy(
        [r[target] for r in rows]
    )


def naive_near_copies(rows, left_out):
    """Each column once with the one that leaves least of it open, at most a quarter of what chance must leave.

    Exact copies are left out.
    """
    n = len(rows[0])
    n_values = [len({row[i] for row in rows}) for i in range(n)]
    usable = [i for i in range(n) if i not in left_out and n_values[i] > 1]
    pairs = []
    for target in usable:
        column = [row[target] for row in rows]
        entropy = -sum(column.count(v) / len(rows) * log(column.count(v) / len(rows)) for v in set(column))
        for by in usable:
            if by != target and min(naive_left(rows, target, by), naive_left(rows, by, target)) > 1e-9:
                told = log(1 + (n_values[target] - 1) * (n_values[by] - 1) / (len(rows) - 1))
                if naive_left(rows, target, by) <= 0.25 * (1 - told / entropy):
                    pairs.append((round(naive_left(rows, target, by), 2), by, target))
    chosen = {}
    for _, by, target in sorted(pairs):
        end = by
        while end in chosen:
            end = chosen[end]
        if target not in chosen and end != target:
            chosen[target] = by
    return {(target, by): naive_left(rows, target, by) for target, by in chosen.items()}


def naive_evidence(rows, labels, feature):
    """All pairs: changed ones first; then the first one of each context, the second one of each, and so on."""
    context_of = {r: c for c, context in enumerate(naive_contexts(rows, feature)) for r in context}
    pairs = naive_pairs(rows, labels, feature)
    ordered = []
    for changed in (True, False):
        some = [(r, s) for r, s in pairs if (labels[r] != labels[s]) == changed]
        turn = {}
        ranked = []
        for r, s in sorted(some):
            turn[context_of[r]] = turn.get(context_of[r], -1) + 1
            ranked.append((turn[context_of[r]], context_of[r], r, s))
        ordered += [(r, s) for _, _, r, s in sorted(ranked)]
    return ordered


def naive_transitions(rows, labels, feature):
    """Counts by (value, value, label, label), the value that occurs first in the table first."""
    order = list(dict.fromkeys(row[feature] for row in rows))
    counts = {}
    for pair in naive_pairs(rows, labels, feature):
        r, s = sorted(pair, key=lambda row: order.index(rows[row][feature]))
        key = (rows[r][feature], rows[s][feature], labels[r], labels[s])
        counts[key] = counts.get(key, 0) + 1
    return counts


# ---------------------------------------------------------------- effect, noise and tests


def naive_kish(rows, labels, feature):
    """2 P^2 / sum over rows of the squared number of pairs that each sits in."""
    pairs = naive_pairs(rows, labels, feature)
    sits_in = [sum(r in pair for pair in pairs) for r in range(len(rows))]
    return 2 * len(pairs) ** 2 / sum(d * d for d in sits_in) if pairs else 0.0


def naive_within(rows, labels, row):
    """How often two different rows that both equal a given one differ in label; None if there is one such row."""
    same = [r for r in range(len(rows)) if rows[r] == row]
    twos = list(combinations(same, 2))
    return sum(labels[r] != labels[s] for r, s in twos) / len(twos) if twos else None


def naive_effect_sums(rows, labels, feature):
    """Pairs whose rows are both repeated, how many of them changed, and the sum of their mean within-value rates."""
    n_pairs = changed = 0
    noise = 0.0
    for r, s in naive_pairs(rows, labels, feature):
        one, two = naive_within(rows, labels, rows[r]), naive_within(rows, labels, rows[s])
        if one is not None and two is not None:
            n_pairs += 1
            changed += labels[r] != labels[s]
            noise += (one + two) / 2
    return n_pairs, changed, noise


def naive_effect_losses(rows, labels, feature):
    """For each row, what is lost without it: pairs, and changed pairs less noise."""
    n_pairs, changed, noise = naive_effect_sums(rows, labels, feature)
    losses = []
    for r in range(len(rows)):
        left = naive_effect_sums(rows[:r] + rows[r + 1 :], labels[:r] + labels[r + 1 :], feature)
        losses.append((n_pairs - left[0], (changed - noise) - (left[1] - left[2])))
    return losses


def naive_value_label_counts(rows, labels, feature, values, classes):
    """Rows by value and label, without the last value and the last class."""
    return [
        sum(row[feature] == v and label == c for row, label in zip(rows, labels, strict=True))
        for v in values[:-1]
        for c in classes[:-1]
    ]


def naive_compared(rows, feature):
    """Twos of values that some context holds both of."""
    return {frozenset((rows[r][feature], rows[s][feature])) for r, s in naive_pairs(rows, [0] * len(rows), feature)}


# ---------------------------------------------------------------- from cells to categories


def naive_quantile_edges(cells, n_bins, weights=None):
    """Where quantile bins begin, but the first; equal cells stay together, and heavy values are bins of their own."""
    size = {}
    for cell, weight in zip(cells, [1] * len(cells) if weights is None else weights, strict=True):
        size[cell] = size.get(cell, 0) + weight
    ordered = sorted(size)
    alone = set()
    while True:
        rest, left = sum(size[v] for v in ordered if v not in alone), n_bins - len(alone)
        heavy = [v for v in ordered if v not in alone and size[v] * left >= rest] if left > 0 else []
        if not heavy:
            break
        alone.update(heavy)
    runs = []  # heavy values, and the others between them
    for value in ordered:
        if value in alone or not runs or runs[-1][-1] in alone:
            runs.append([value])
        else:
            runs[-1].append(value)
    edges = []
    for run in runs:
        n_parts = 1 if run[0] in alone else max(1, round(Fraction(sum(size[v] for v in run) * max(1, left), rest)))
        edges += naive_parts(run, [size[v] for v in run], n_parts)
    return edges[1:]


def naive_parts(values, sizes, n_parts):
    """First values of about equally large parts: each part ends where what is left would be divided most evenly."""
    firsts, start = [values[0]], 0
    for left in range(n_parts, 1, -1):
        goal = sum(sizes[:start]) + Fraction(sum(sizes[start:]), left)
        stop = min(range(start + 1, len(values) + 1), key=lambda end: (abs(sum(sizes[:end]) - goal), -end))
        if stop == len(values):
            break
        firsts.append(values[stop])
        start = stop
    return firsts


def naive_bin(cell, edges):
    """The number of the bin that a cell falls into; None stays None."""
    return None if cell is None else sum(edge <= cell for edge in edges)


ID_WORDS = ("id", "ids", "uid", "uuid", "guid", "identifier")
COUNT_WORDS = ("key", "index", "idx", "rownum", "no", "nr", "num")


def naive_is_id(name, kind, cells, weights, max_values):
    """Whether most rows have another value, and it is no measurement; or whole numbers are named ids of units."""
    present = [(cell, weight) for cell, weight in zip(cells, weights, strict=True) if cell is not None]
    values = {cell for cell, _ in present}
    sizes = sorted(sum(weight for cell, weight in present if cell == value) for value in values)
    is_unit = kind == "whole" and len(values) > max(max_values, 9) and name.endswith("_id")
    if is_unit and sizes[len(sizes) // 2] + sizes[(len(sizes) - 1) // 2] >= 4:
        return True
    n_rows = sum(weight for _, weight in present)
    if kind in ("real", "time") or len(values) <= max_values:
        return False
    words = name.lower().replace("_", " ").split()
    if any(word in ID_WORDS for word in words) or any(isinstance(value, str) for value in values):
        return 2 * len(values) >= n_rows
    is_counting = any(word in COUNT_WORDS for word in words) or kind != "whole"
    return len(values) >= 0.95 * n_rows and (is_counting or max(values) - min(values) < 2 * len(values))


def naive_treatment(columns, labels, *, missing="value", n_bins=5, max_values=20, ids="drop", weights=None):
    """Columns (name to kind and cells) as rows of categories, and what was done; all rows must have a label.

    Kinds are "category", "whole", "real" and "time". Returns names, rows, labels, weights, edges, missing cells by
    column, and the names that were set aside.
    """
    weights = [1] * len(labels) if weights is None else list(weights)
    kept = [r for r in range(len(labels)) if weights[r] and labels[r] is not None]
    labels, weights = [labels[r] for r in kept], [weights[r] for r in kept]
    columns = {name: (kind, [cells[r] for r in kept]) for name, (kind, cells) in columns.items()}
    aside = [
        name
        for name, (kind, cells) in columns.items()
        if ids == "drop" and naive_is_id(name, kind, cells, weights, max_values)
    ]
    aside = [] if len(aside) == len(columns) else aside
    columns = {name: column for name, column in columns.items() if name not in aside}
    n_missing = {name: sum(cell is None for cell in cells) for name, (_, cells) in columns.items()}
    if missing == "drop":
        full = [r for r in range(len(labels)) if all(cells[r] is not None for _, cells in columns.values())]
        labels, weights = [labels[r] for r in full], [weights[r] for r in full]
        columns = {name: (kind, [cells[r] for r in full]) for name, (kind, cells) in columns.items()}
        n_missing = dict.fromkeys(columns, 0)
    edges, coded = {}, {}
    for name, (kind, cells) in columns.items():
        present = [(cell, weight) for cell, weight in zip(cells, weights, strict=True) if cell is not None]
        values = {cell for cell, _ in present}
        is_few = len(values) <= max_values and (kind != "real" or all(cell == int(cell) for cell in values))
        edges[name] = ()
        if kind == "category" or is_few or len(values) <= n_bins:
            coded[name] = cells
            continue
        edges[name] = tuple(naive_quantile_edges([c for c, _ in present], n_bins, [w for _, w in present]))
        coded[name] = [naive_bin(cell, edges[name]) for cell in cells]
    rows = [tuple(coded[name][r] for name in columns) for r in range(len(labels))]
    return {
        "names": tuple(columns),
        "rows": rows,
        "labels": labels,
        "weights": weights,
        "edges": tuple(edges.values()),
        "n_missing": [n_missing[name] for name in columns],
        "aside": tuple(aside),
    }


def naive_votes(rows, labels, joint, classes, groups=None):
    """How the other rows vote on each row: every row is left out, and rows that agree on the joint features vote.

    With few rows in agreement the vote of one feature less counts as three rows. A row keeps its vote if the next
    feature does not divide those that vote, or if all rows in agreement have one label. Rows of a group do not vote for
    each other.
    """
    groups, votes = groups or range(len(rows)), []
    for i, row in enumerate(rows):
        cell = range(len(rows))
        others = [j for j in cell if groups[j] != groups[i]]
        vote = {c: (sum(labels[j] == c for j in others) + 1) / (len(others) + len(classes)) for c in classes}
        for place, f in enumerate(joint):
            agree = [j for j in others if rows[j][f] == row[f]]
            is_settled = place > 0 and len({labels[j] for j in cell}) == 1
            if len(agree) < len(others) and not is_settled:
                vote = {c: (sum(labels[j] == c for j in agree) + 3 * vote[c]) / (len(agree) + 3) for c in classes}
            cell, others = [j for j in cell if rows[j][f] == row[f]], agree
        votes.append(vote)
    return votes


def naive_own_votes(rows, labels, f, classes, groups=None):
    """How much likelier the value of each row is with every label than over all, among the rows of other groups."""
    n_values = len({row[f] for row in rows})
    groups, votes = groups or range(len(rows)), []
    for i, row in enumerate(rows):
        others = [j for j in range(len(rows)) if groups[j] != groups[i]]
        with_value = [j for j in others if rows[j][f] == row[f]]
        over_all = (len(with_value) + 1) / (len(others) + n_values)
        votes.append(
            {
                c: (sum(labels[j] == c for j in with_value) + 3 * over_all)
                / (sum(labels[j] == c for j in others) + 3)
                / over_all
                for c in classes
            }
        )
    return votes


def naive_log_likelihood(rows, labels, joint, own=(), groups=None):
    """Log-likelihood of the labels: the joint vote times the votes of features on their own, scaled to add up to 1."""
    classes = sorted(set(labels))
    predicted = naive_votes(rows, labels, joint, classes, groups)
    for f in own:
        for vote, factor in zip(predicted, naive_own_votes(rows, labels, f, classes, groups), strict=True):
            for c in classes:
                vote[c] *= factor[c]
    return sum(log(vote[label] / sum(vote.values())) for vote, label in zip(predicted, labels, strict=True))


def naive_follow(rows, labels, features, groups=None):
    """Log-likelihoods after each feature in order, voting together with others or on its own, whichever adds more."""
    joint, own, values = [], [], []
    for f in features:
        together = naive_log_likelihood(rows, labels, [*joint, f], own, groups)
        alone = naive_log_likelihood(rows, labels, joint, [*own, f], groups) if joint else together
        if alone > together:
            own = [*own, f]
        else:
            joint = [*joint, f]
        values.append(max(together, alone))
    return values


# ---------------------------------------------------------------- two features together


def naive_square_of(rows, four, i, j, equal):
    """Four rows in the order (u, v), (u', v), (u, v'), (u', v') if they are a square; None if they are not."""
    if any(len({rows[r][f] for r in four}) > 1 for f in equal):
        return None
    us, vs = (sorted({rows[r][f] for r in four}) for f in (i, j))
    if len(us) != 2 or len(vs) != 2:
        return None
    at = {(rows[r][i], rows[r][j]): r for r in four}
    corners = [(us[0], vs[0]), (us[1], vs[0]), (us[0], vs[1]), (us[1], vs[1])]
    return [at[corner] for corner in corners] if len(at) == 4 else None


def naive_squares(rows, labels, i, j, equal=None, weights=None):
    """Squares of two features and how many are broken, by looking at all fours of rows."""
    equal = [f for f in range(len(rows[0])) if f not in (i, j)] if equal is None else equal
    weights = [1] * len(rows) if weights is None else [int(w) for w in weights]
    squares = broken = 0
    for four in combinations(range(len(rows)), 4):
        found = naive_square_of(rows, four, i, j, equal)
        if found:
            a, b, c, d = (labels[r] for r in found)
            together = weights[four[0]] * weights[four[1]] * weights[four[2]] * weights[four[3]]
            squares += together
            broken += 0 if (a == b and c == d) or (a == c and b == d) else together
    return squares, broken


def naive_agreement(labels, some, others):
    """How often a row of the one group and a different row of the other have the same label."""
    twos = [(r, s) for r in some for s in others if r != s]
    return Fraction(sum(labels[r] == labels[s] for r, s in twos), len(twos))


def naive_interaction_effect(rows, labels, i, j, equal=None):
    """Mean over the squares whose rows are all repeated of the sum of (p_a - p_b - p_c + p_d)^2 / 8, and their number.

    The square of the difference holds products of shares of two cells: how often different rows of them agree.
    """
    equal = [f for f in range(len(rows[0])) if f not in (i, j)] if equal is None else equal

    def cell(r):
        return [s for s in range(len(rows)) if all(rows[s][f] == rows[r][f] for f in (i, j, *equal))]

    total, n_squares = Fraction(0), 0
    for four in combinations(range(len(rows)), 4):
        found = naive_square_of(rows, four, i, j, equal)
        if found and all(len(cell(r)) > 1 for r in found):
            n_squares += 1
            for r, sign in zip(found, (1, -1, -1, 1), strict=True):
                for s, other in zip(found, (1, -1, -1, 1), strict=True):
                    total += sign * other * naive_agreement(labels, cell(r), cell(s)) / 8
    return (total / n_squares if n_squares else None), n_squares
