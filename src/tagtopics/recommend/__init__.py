"""Tag recommendation: scores, calibration and lists."""
