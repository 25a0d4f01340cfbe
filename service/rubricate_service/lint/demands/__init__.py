"""What each check demands, by subject."""

from . import counts as counts
from . import documents as documents
from . import marks as marks
from . import whole as whole
from . import words as words
from .dispatch import demands_of

__all__ = ["demands_of"]
