"""Pictures of the dashboards over simulated traffic: `python -m deploy.preview` writes docs/pictures/.

They are made of Grafana's own components, without Grafana: a preview. Needs prometheus, promtool, node and
chromium on the path, and what `npm ci` installs in deploy/grafana/preview/.
"""
