"""Example 1 of the paper, on a page: edges, their readings, their bytes, and what happens on the link."""

from orthostream.dashboard.live import LiveView
from orthostream.dashboard.ost_file import OstView
from orthostream.dashboard.stored import StoredView
from orthostream.dashboard.view import EdgeDetail, EdgeOverview, View, Window

__all__ = ["EdgeDetail", "EdgeOverview", "LiveView", "OstView", "StoredView", "View", "Window"]
