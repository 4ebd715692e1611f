"""All tests of the kit; the folders mirror the tree."""
