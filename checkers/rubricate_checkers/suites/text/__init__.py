"""General checks of our own: what users otherwise write by hand.

They have no reference code, so each docstring says what is counted. They look at blank responses too,
and answer as strict in loose mode. A response that is too deep or too large for one of them does not hold.
"""

from . import counts as counts
from . import formats as formats
from . import json_values as json_values
from . import keywords as keywords
from . import patterns as patterns
from . import quality as quality
