"""The constraints of MulDimIF (Ye et al., 2025, arXiv:2505.07591), verdict for verdict.

A constraint is a sentence; one module for each family reads it and says what it asks of a response.
Parity is with Junjie-Ye/MulDimIF efd0c02, with nltk 3.9 and zhconv 1.4.
"""

from . import constraint as constraint
