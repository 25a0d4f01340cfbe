"""The 25 checks of IFEval (Zhou et al., 2023, arXiv:2311.07911), verdict for verdict.

Parity is with lm-evaluation-harness 4e7e0d4, whose checks answer as Google's do. Where those draw a
random parameter for an unusable kwarg, the kwarg is refused.
"""

from . import case as case
from . import combination as combination
from . import content as content
from . import format as format
from . import keywords as keywords
from . import language as language
from . import length as length
from . import punctuation as punctuation
from . import startend as startend
from . import structure as structure
