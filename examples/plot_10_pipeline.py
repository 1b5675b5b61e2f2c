"""
Selecting features in a pipeline with grid search
=================================================

``AnalogicalSelector`` is a scikit-learn transformer. In a pipeline it is fitted on the training
part of each fold, and grid search can select the number of features.
"""

# %%
# A table with an interaction
# ---------------------------
# 15 features with three values. The label is true if ``x01`` and ``x02`` are equal or ``x03`` is "a";
# one label in ten is wrong, so no model can be right in much more than 90 % of new rows.

from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.feature_selection import SelectKBest, mutual_info_classif
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier

from analogical import AnalogicalSelector

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.choice(["a", "b", "c"], size=(900, 15)), columns=[f"x{k:02}" for k in range(1, 16)])
y = ((X["x01"] == X["x02"]) | (X["x03"] == "a")) ^ (rng.random(900) < 0.1)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=1 / 3, random_state=0)

# %%
# Grid search over the number of features
# ---------------------------------------

ks = [1, 2, 3, 4, 6, 10, 15]
model = [
    ("encode", OneHotEncoder(handle_unknown="ignore")),
    ("tree", DecisionTreeClassifier(min_samples_leaf=5, random_state=0)),
]
search = GridSearchCV(Pipeline([("choose", AnalogicalSelector()), *model]), {"choose__k": ks}, cv=3)
search.fit(X_train, y_train)
print("best:", search.best_params_, f"accuracy on new rows: {search.score(X_test, y_test):.3f}")
print("chosen:", *search.best_estimator_["choose"].get_feature_names_out())
print(search.best_estimator_["choose"].selection_)

# %%
# The same with mutual information
# --------------------------------
# ``x01`` and ``x02`` are uninformative one at a time, so a univariate filter picks them by chance only.

information = SelectKBest(partial(mutual_info_classif, discrete_features=True))
rival = GridSearchCV(
    Pipeline([("codes", OrdinalEncoder()), ("choose", information), *model]), {"choose__k": ks}, cv=3
).fit(X_train, y_train)
print("best:", rival.best_params_, f"accuracy on new rows: {rival.score(X_test, y_test):.3f}")

# %%
fig, ax = plt.subplots(figsize=(6.0, 3.2), layout="constrained")
ax.plot(ks, search.cv_results_["mean_test_score"], "o-", color="#3b6ea8", label="AnalogicalSelector")
ax.plot(ks, rival.cv_results_["mean_test_score"], "s--", color="#8a94a0", label="mutual information")
ax.set(xlabel="features kept", ylabel="accuracy, mean of 3 folds", xticks=ks)
ax.legend()
plt.show()

# %%
# What to take away
# -----------------
# Select features inside the pipeline, so that test rows have no part in the selection. Do not conclude
# that fewer features are always better: this table was made with three features that matter and twelve
# that do not.
