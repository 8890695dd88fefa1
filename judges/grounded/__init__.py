"""Steps on questions with passages: perturb what the passages say, check that, answer from them, label, judge.

Source: 003_79504d017c0b1582.txt, sections 3, 4 and appendices B to D; studies.md, evalpair.
"""
