"""Monte-Carlo runs of the alerts on shares: how often they cry wolf, and how soon they see a change."""
