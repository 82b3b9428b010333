"""The folder of streamverify's larger model; there is no code in it."""
