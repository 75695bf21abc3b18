"""What is on which dashboard: each module one dashboard, each row of it a function, each panel one line."""
