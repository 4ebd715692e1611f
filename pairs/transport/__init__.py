"""How ticks reach an engine and answers come back."""
