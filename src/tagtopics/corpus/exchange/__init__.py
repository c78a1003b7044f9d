"""Formats in which others keep word counts: UCI, LDA-C, SVMlight, Mulan, MATLAB."""
