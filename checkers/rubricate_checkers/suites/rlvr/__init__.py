"""The 25 functions of RLVR-IFeval (Lambert et al., 2024, arXiv:2411.15124), verdict for verdict.

Parity is with `if_functions` of open-instruct e6c3044; an id is `rlvr:` and the function's name, and the
kwargs are the function's own. They resemble IFEval's checks and differ from them in most details. As in
upstream's verifier, a function sees what follows the last `</think>`, without `<answer>` tags and
whitespace at the ends. There is no loose reading, and a blank response is looked at like any other.
Kwargs for which the function raises are refused.
"""

from . import content as content
from . import counts as counts
from . import keywords as keywords
from . import parts as parts
from . import whole as whole
