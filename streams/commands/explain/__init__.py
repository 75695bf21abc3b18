"""`lara explain`: why is it counted so? The chain from event to figure, in words and as data."""
