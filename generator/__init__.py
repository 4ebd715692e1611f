"""Generates the market: arrivals, prices, and the Spark job that writes them as a dataset."""
