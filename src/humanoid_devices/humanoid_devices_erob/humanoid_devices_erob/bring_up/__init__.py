"""From power-on to operation enabled, and the bench mode that stays in PREOP."""
