"""Suites of checks; importing one registers its ids."""

from . import ifbench as ifbench
from . import ifeval as ifeval
from . import iftrain as iftrain
from . import muldimif as muldimif
from . import rlvr as rlvr
from . import rubrichub as rubrichub
from . import rule as rule
from . import text as text
