"""What is simulated: networks of many graphs, each at loads around its critical one."""
