"""The golden dataset with its answers, and the golden programs."""
