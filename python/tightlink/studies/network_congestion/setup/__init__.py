"""What is simulated: networks of many graphs, each at loads around its critical one."""

from tightlink.studies.network_congestion.setup.cases import tasks

__all__ = ["tasks"]
