"""The 58 checks of IFBench (Pyatkin et al., 2025, arXiv:2507.02833), verdict for verdict, in two generations.

Suite `ifbench` answers as allenai/IFBench db69a6f (v0.2.0), `ifbench@2025` as c6767a1 of November
2025, which cuts sentences otherwise and differs in some rules. An id whose generations agree is one
check with an alias; where they do not, the older one is a subclass. Where the reference code draws
a random parameter, or a rubric makes it raise, the kwarg is refused; where a response makes it raise,
the response does not hold.
"""

from . import count as count
from . import custom_csv as custom_csv
from . import custom_lists as custom_lists
from . import custom_text as custom_text
from . import format_lines as format_lines
from . import format_marks as format_marks
from . import format_text as format_text
from . import lists as lists
from . import overlap as overlap
from . import position as position
from . import pronouns as pronouns
from . import ratio as ratio
from . import repeat as repeat
from . import sentence as sentence
from . import verb as verb
from . import words as words
