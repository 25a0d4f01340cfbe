"""The 29 checks that IFTrain adds to IFEval's (Pyatkin et al., 2025, arXiv:2507.02833), verdict for verdict.

Parity is with open-instruct e6c3044 (`IFEvalG`), where IFEval's own 25 ids answer as in IFEval. Where
that code draws a random parameter or raises for an unusable kwarg, the kwarg is refused.
"""

from . import copying as copying
from . import counting as counting
from . import edges as edges
from . import format as format
from . import keywords as keywords
from . import phrase as phrase
from . import punctuation as punctuation
